package schema

// User is who a GNS3 token belongs to.
type User struct {
	ID           string `json:"user_id"`
	Username     string `json:"username"`
	FullName     string `json:"full_name"`
	Email        string `json:"email"`
	IsActive     bool   `json:"is_active"`
	IsSuperadmin bool   `json:"is_superadmin"`
}

// Group is a group of GNS3 users.
type Group struct {
	ID   string `json:"user_group_id"`
	Name string `json:"name"`
}

// Project is a GNS3 project as a user may see it.
type Project struct {
	ID     string `json:"project_id"`
	Name   string `json:"name"`
	Status string `json:"status"` // opened or closed
}

// Opened reports whether the project's nodes can be used.
func (p Project) Opened() bool { return p.Status == "opened" }

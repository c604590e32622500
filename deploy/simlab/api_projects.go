package simlab

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// version is the GNS3 server that the lab imitates.
const version = "3.1.0a2"

func (c *call) version() {
	c.reply(http.StatusOK, struct {
		Host    string `json:"controller_host"`
		Version string `json:"version"`
		Local   bool   `json:"local"`
	}{c.lab.consoleHost, version, false})
}

// checkVersion tells a client whether it fits this server.
func (c *call) checkVersion() {
	var body struct {
		Version *string `json:"version"`
	}
	switch {
	case !c.readJSON(&body):
	case body.Version == nil:
		c.invalid(missing("version"))
	case *body.Version != version:
		c.fail(http.StatusConflict, fmt.Sprintf("Client version %s is not the same as server version %s", *body.Version, version))
	default:
		c.reply(http.StatusOK, map[string]string{"version": version})
	}
}

func (c *call) authenticate() {
	var body struct {
		Username *string `json:"username"`
		Password *string `json:"password"`
	}
	if c.readJSON(&body) {
		c.logIn(body.Username, body.Password)
	}
}

// login is authenticate for forms.
func (c *call) login() {
	if err := c.r.ParseForm(); err != nil {
		c.invalid(missing("username"), missing("password"))
		return
	}
	c.logIn(formValue(c.r.PostForm, "username"), formValue(c.r.PostForm, "password"))
}

func formValue(form url.Values, name string) *string {
	if !form.Has(name) {
		return nil
	}
	value := form.Get(name)
	return &value
}

// logIn gives a token for the right password; unknown users and wrong passwords look the same.
func (c *call) logIn(name, password *string) {
	var problems []string
	if name == nil {
		problems = append(problems, missing("username"))
	}
	if password == nil {
		problems = append(problems, missing("password"))
	}
	if len(problems) > 0 {
		c.invalid(problems...)
		return
	}
	u := c.lab.user(*name)
	if u == nil || !u.hasPassword(*password) {
		c.unauthorized("Authentication was unsuccessful.")
		return
	}
	now := time.Now().UTC()
	token, err := c.lab.Token(u.name, tokenLife)
	if err != nil {
		c.fail(http.StatusInternalServerError, "Internal Server Error")
		return
	}
	u.mu.Lock()
	u.lastLogin = &now
	u.mu.Unlock()
	c.reply(http.StatusOK, struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
	}{token, "bearer"})
}

func (c *call) me() { c.reply(http.StatusOK, c.user.view()) }

// listProjects shows the projects that a user takes part in, so that a lab with several users is still one project to each. A real server lists all of
// them to an administrator, who can open the others' by their ids here too.
func (c *call) listProjects() {
	views := []projectView{}
	for _, p := range c.lab.allProjects() {
		if c.user.takesPart(p) && c.user.may(p, "Project.Audit") {
			views = append(views, p.view())
		}
	}
	c.reply(http.StatusOK, views)
}

func (c *call) getProject() { c.reply(http.StatusOK, c.project.view()) }

func (c *call) openProject() {
	c.project.open()
	c.reply(http.StatusCreated, c.project.view())
}

// closeProject stops all nodes; what they hadn't saved is gone.
func (c *call) closeProject() {
	c.project.close()
	c.done()
}

func (c *call) projectStats() {
	c.reply(http.StatusOK, struct {
		Nodes     int `json:"nodes"`
		Links     int `json:"links"`
		Drawings  int `json:"drawings"`
		Snapshots int `json:"snapshots"`
	}{Nodes: len(c.project.allNodes()), Links: len(c.project.allLinks()), Snapshots: len(c.project.allSnapshots())})
}

func (c *call) listTemplates() { c.reply(http.StatusOK, templates()) }

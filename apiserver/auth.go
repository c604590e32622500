package apiserver

import (
	"context"
	"net/http"
	"strings"

	"gns3copilot/schema"
)

// caller is who makes a request.
type caller struct {
	schema.User
	token string
}

// tokenOf finds the bearer token: in the header, or in ?token= as GNS3 accepts it too. It fails with CodeUnauthorized.
func tokenOf(r *http.Request) (string, error) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token := gns3Token(r); token != "" && (scheme == "" || strings.EqualFold(scheme, "bearer")) {
		return token, nil
	}
	return "", schema.Errorf(schema.CodeUnauthorized, "Not authenticated").
		WithHint("Log in at POST /v3/access/users/authenticate and send the token as Authorization: Bearer.")
}

// gns3Token is the token that GNS3 goes by, "" if there is none: of several in the address the last, and that also beside another scheme.
func gns3Token(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") && token != "" {
		return strings.TrimSpace(token)
	}
	if asked := r.URL.Query()["token"]; len(asked) > 0 {
		return asked[len(asked)-1]
	}
	return ""
}

func (s *Server) caller(ctx context.Context, r *http.Request) (caller, error) {
	token, err := tokenOf(r)
	if err != nil {
		return caller{}, err
	}
	user, err := s.identities.user(ctx, token)
	return caller{User: user, token: token}, err
}

// withoutGNS3 marks an operation that does with a caller who was known when the GNS3 server could last be asked.
const withoutGNS3 = "without GNS3"

// lastCaller is as caller while the GNS3 server is away.
func (s *Server) lastCaller(r *http.Request) (caller, bool) {
	token, err := tokenOf(r)
	if err != nil {
		return caller{}, false
	}
	user, ok := s.identities.last(token)
	return caller{User: user, token: token}, ok
}

// project checks that the caller may see the project. Unless verb is empty the project must be opened, too. One that the caller may not see
// is answered as one that doesn't exist, so that nobody learns which ids there are. It fails with CodeInvalid, CodeNotFound,
// CodeProjectClosed and CodeGNS3Unavailable.
func (s *Server) project(ctx context.Context, who caller, id, verb string) error {
	if _, err := uuidParam("project_id", id); err != nil {
		return err
	}
	project, err := s.gns3.Project(ctx, who.token, id)
	switch code := schema.CodeOf(err); {
	case code == schema.CodeForbidden || code == schema.CodeNotFound:
		s.log.DebugContext(ctx, "project not shown", "project", id, "user", who.Username, "code", code, "error", err)
		return schema.Errorf(schema.CodeNotFound, "Project ID %s doesn't exist", id).WithCause(err)
	case err != nil:
		return err
	}
	if verb != "" && !project.Opened() {
		return schema.Errorf(schema.CodeProjectClosed, "Project must be opened to %s. Current status: %s", verb, project.Status).
			WithHint("Open the project in GNS3 first.")
	}
	return nil
}

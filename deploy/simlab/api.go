package simlab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// route is one endpoint.
type route struct {
	method, path string
	// privilege is what the user needs on the project in the path, or among users and groups; "" when there is none to check.
	privilege string
	public    bool
	at        source
	handle    func(*call)
}

// call is one request on its way. user is nil on public routes, project where the path has none.
type call struct {
	lab     *Lab
	route   route
	w       http.ResponseWriter
	r       *http.Request
	user    *user
	project *project
}

const (
	accessPath   = "/v3/access"
	usersPath    = accessPath + "/users"
	userPath     = usersPath + "/{user_id}"
	groupsPath   = accessPath + "/groups"
	groupPath    = groupsPath + "/{user_group_id}"
	projectPath  = "/v3/projects/{project_id}"
	nodesPath    = projectPath + "/nodes"
	nodePath     = nodesPath + "/{node_id}"
	linksPath    = projectPath + "/links"
	linkPath     = linksPath + "/{link_id}"
	snapsPath    = projectPath + "/snapshots"
	snapPath     = snapsPath + "/{snapshot_id}"
	templatePath = projectPath + "/templates/{template_id}"
)

// endpoints is the whole API. The places in the source are those of GNS3 3.1.0a2.
func endpoints() []route {
	return []route{
		{"GET", "/v3/version", "", true, source{}, (*call).version},
		{"POST", "/v3/version", "", true, source{"controller.py", 69, "check_version"}, (*call).checkVersion},
		{"POST", usersPath + "/authenticate", "", true, source{"users.py", 75, "authenticate"}, (*call).authenticate},
		{"POST", usersPath + "/login", "", true, source{"users.py", 50, "login"}, (*call).login},
		{"GET", usersPath + "/me", "", false, source{}, (*call).me},
		{"PUT", usersPath + "/me", "", false, source{"users.py", 121, "update_logged_in_user"}, (*call).updateMe},
		{"POST", usersPath + "/logout", "", false, source{}, (*call).logout},
		{"GET", usersPath, "User.Audit", false, source{}, (*call).listUsers},
		{"GET", userPath, "User.Audit", false, source{"users.py", 179, "get_user"}, (*call).getUser},
		{"GET", userPath + "/groups", "Group.Audit", false, source{"users.py", 257, "get_user_memberships"}, (*call).listMemberships},
		{"GET", groupsPath, "Group.Audit", false, source{}, (*call).listGroups},
		{"GET", groupPath, "Group.Audit", false, source{"groups.py", 86, "get_user_group"}, (*call).getGroup},
		{"GET", groupPath + "/members", "Group.Audit", false, source{"groups.py", 161, "get_user_group_members"}, (*call).listMembers},

		{"GET", "/v3/projects", "", false, source{}, (*call).listProjects},
		{"POST", "/v3/projects", "", false, source{"projects.py", 106, "create_project"}, (*call).createProject},
		{"PUT", projectPath, "Project.Modify", false, source{"projects.py", 142, "update_project"}, (*call).updateProject},
		{"DELETE", projectPath, "Project.Allocate", false, source{"projects.py", 162, "delete_project"}, (*call).deleteProject},
		{"POST", projectPath + "/duplicate", "Project.Audit", false, source{"projects.py", 436, "duplicate_project"}, (*call).duplicateProject},
		{"GET", projectPath, "Project.Audit", false, source{"projects.py", 131, "get_project"}, (*call).getProject},
		{"POST", projectPath + "/open", "Project.Allocate", false, source{"projects.py", 216, "open_project"}, (*call).openProject},
		{"POST", projectPath + "/close", "Project.Allocate", false, source{"projects.py", 199, "close_project"}, (*call).closeProject},
		{"GET", projectPath + "/stats", "Project.Audit", false, source{"projects.py", 183, "get_project_stats"}, (*call).projectStats},
		{"GET", projectPath + "/notifications", "Project.Audit", false,
			source{"projects.py", 248, "project_http_notifications"}, (*call).notifications},
		{"GET", projectPath + "/notifications/ws", "", true, source{}, (*call).projectSocket},
		{"GET", "/v3/notifications", "", false,
			source{"controller.py", 257, "controller_http_notifications"}, (*call).labNotifications},
		{"GET", "/v3/notifications/ws", "", true, source{}, (*call).labSocket},

		{"GET", snapsPath, "Snapshot.Audit", false, source{"snapshots.py", 72, "get_snapshots"}, (*call).listSnapshots},
		{"POST", snapsPath, "Snapshot.Allocate", false, source{"snapshots.py", 52, "create_snapshot"}, (*call).createSnapshot},
		{"DELETE", snapPath, "Snapshot.Allocate", false, source{"snapshots.py", 89, "delete_snapshot"}, (*call).deleteSnapshot},
		{"POST", snapPath + "/restore", "Snapshot.Restore", false, source{"snapshots.py", 109, "restore_snapshot"}, (*call).restoreSnapshot},

		{"GET", nodesPath, "Node.Audit", false, source{"nodes.py", 147, "get_nodes"}, (*call).listNodes},
		{"POST", nodesPath + "/start", "Node.PowerMgmt", false, source{"nodes.py", 184, "start_all_nodes"}, (*call).startNodes},
		{"POST", nodesPath + "/stop", "Node.PowerMgmt", false, source{"nodes.py", 199, "stop_all_nodes"}, (*call).stopNodes},
		{"POST", nodesPath + "/suspend", "Node.PowerMgmt", false, source{"nodes.py", 214, "suspend_all_nodes"}, (*call).suspendNodes},
		{"POST", nodesPath + "/reload", "Node.PowerMgmt", false, source{"nodes.py", 229, "reload_all_nodes"}, (*call).reloadNodes},
		{"GET", nodePath, "Node.Audit", false, source{"nodes.py", 245, "get_node"}, (*call).getNode},
		{"PUT", nodePath, "Node.Modify", false, source{"nodes.py", 261, "update_node"}, (*call).updateNode},
		{"DELETE", nodePath, "Node.Allocate", false, source{"nodes.py", 280, "delete_node"}, (*call).deleteNode},
		{"POST", nodePath + "/duplicate", "Node.Allocate", false, source{"nodes.py", 300, "duplicate_node"}, (*call).duplicateNode},
		{"POST", nodePath + "/start", "Node.PowerMgmt", false, source{"nodes.py", 321, "start_node"}, (*call).startNodes},
		{"POST", nodePath + "/stop", "Node.PowerMgmt", false, source{"nodes.py", 339, "stop_node"}, (*call).stopNodes},
		{"POST", nodePath + "/suspend", "Node.PowerMgmt", false, source{"nodes.py", 358, "suspend_node"}, (*call).suspendNodes},
		{"POST", nodePath + "/reload", "Node.PowerMgmt", false, source{"nodes.py", 377, "reload_node"}, (*call).reloadNodes},
		{"POST", nodePath + "/console/reset", "Node.Console", false, source{"nodes.py", 756, "console_reset"}, (*call).resetConsole},

		{"GET", linksPath, "Link.Audit", false, source{"links.py", 69, "get_links"}, (*call).listLinks},
		{"POST", linksPath, "Link.Allocate", false, source{"links.py", 93, "create_link"}, (*call).createLink},
		{"GET", linkPath, "Link.Audit", false, source{"links.py", 143, "get_link"}, (*call).getLink},
		{"DELETE", linkPath, "Link.Allocate", false, source{"links.py", 179, "delete_link"}, (*call).deleteLink},
		{"POST", linkPath + "/capture/start", "Link.Capture", false, source{"links.py", 216, "start_capture"}, (*call).startCapture},
		{"POST", linkPath + "/capture/stop", "Link.Capture", false, source{"links.py", 246, "stop_capture"}, (*call).stopCapture},
		{"GET", linkPath + "/capture/file", "Link.Capture", false, source{"links.py", 335, "download_capture_file"}, (*call).captureFile},

		{"GET", "/v3/templates", "", false, source{}, (*call).listTemplates},
		{"GET", "/v3/templates/{template_id}", "", false, source{}, (*call).getTemplate},
		{"POST", templatePath, "Node.Allocate", false, source{"projects.py", 588, "create_node_from_template"}, (*call).createNode},
	}
}

// routes makes the handler of the whole server.
func (l *Lab) routes() http.Handler {
	byPath := map[string][]route{}
	for _, r := range endpoints() {
		byPath[r.path] = append(byPath[r.path], r)
	}
	mux := http.NewServeMux()
	for path, choices := range byPath {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { l.dispatch(w, r, choices) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { elsewhere(mux, w, r) })
	return mux
}

// elsewhere answers paths that no endpoint has: a redirect when only a final slash is too many.
func elsewhere(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	trimmed := strings.TrimSuffix(r.URL.Path, "/")
	if trimmed != r.URL.Path && trimmed != "" {
		probe := r.Clone(r.Context())
		probe.URL.Path = trimmed
		if _, pattern := mux.Handler(probe); pattern != "/" {
			w.Header().Set("Location", "http://"+r.Host+trimmed)
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
	}
	writeJSON(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
}

// dispatch picks the endpoint for the method and does what comes before every handler, in GNS3's order: who are you, may
// you, are the ids well-formed, does the project exist.
func (l *Lab) dispatch(w http.ResponseWriter, r *http.Request, choices []route) {
	i := slices.IndexFunc(choices, func(c route) bool { return c.method == r.Method })
	if i < 0 {
		var methods []string
		for _, c := range choices {
			methods = append(methods, c.method)
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"detail": "Method Not Allowed"})
		return
	}
	c := &call{lab: l, route: choices[i], w: w, r: r}
	if c.admitted() {
		c.route.handle(c)
	}
}

// admitted answers the request itself when it reports false.
func (c *call) admitted() bool {
	if c.route.public {
		return true
	}
	if !c.identify() {
		return false
	}
	if c.route.privilege == "" {
		return true
	}
	id := c.r.PathValue("project_id")
	if parsed, err := uuid.Parse(id); err == nil {
		id = parsed.String()
		c.project = c.lab.project(id)
	}
	if !c.user.may(c.project, c.route.privilege) { // of users and groups an administrator alone knows
		c.fail(http.StatusForbidden, fmt.Sprintf("Permission denied (privilege %s is required)", c.route.privilege))
		return false
	}
	if problems := c.badUUIDs(); len(problems) > 0 {
		c.invalid(problems...)
		return false
	}
	if c.project == nil && !strings.HasPrefix(c.route.path, accessPath) {
		c.fail(http.StatusNotFound, fmt.Sprintf("Project ID %s doesn't exist", id))
		return false
	}
	return true
}

// identify finds the user of the request's token: the bearer token, else the one in the query.
func (c *call) identify() bool {
	token := c.r.URL.Query().Get("token")
	scheme, value, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") && value != "" {
		token = value
	}
	if token == "" {
		c.unauthorized("Not authenticated")
		return false
	}
	u, problem := c.lab.tokenUser(token)
	if problem != "" {
		c.unauthorized(problem)
		return false
	}
	c.user = u
	return true
}

// tokenUser gives the owner of a token, or what is wrong with it in GNS3's words.
func (l *Lab) tokenUser(token string) (*user, string) {
	u, claims := l.userOf(token, time.Now())
	switch {
	case u == nil:
		return nil, "Could not validate credentials"
	case claims.Version != u.tokenVersion():
		return nil, fmt.Sprintf("Token has been revoked for '%s'", u.name)
	}
	return u, ""
}

// unauthorized answers 401 with the challenge that every such reply of GNS3 has.
func (c *call) unauthorized(message string) {
	c.w.Header().Set("WWW-Authenticate", "Bearer")
	c.fail(http.StatusUnauthorized, message)
}

// fail answers with GNS3's error body.
func (c *call) fail(status int, message string) {
	c.reply(status, map[string]string{"message": message})
}

func (c *call) reply(status int, body any) { writeJSON(c.w, status, body) }

// done answers 204, to which GNS3 gives a content type all the same.
func (c *call) done() {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusNoContent)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// A client that went away can't be told so.
	_ = enc.Encode(body)
}

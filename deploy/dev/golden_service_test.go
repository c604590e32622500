package dev_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"gns3copilot/schema"
)

func goldenService() []goldenFile {
	return []goldenFile{
		{"endpoints/auth.txt", "Who is let in: a GNS3 access token, in the header or in the query.", goldenAuthFile},
		{"endpoints/healthz.txt", "GET /healthz: the process lives.", func(g *golden) {
			g.show("Without a token", http.MethodGet, "/healthz", "", "Authorization", "")
		}},
		{"endpoints/reload-skills.txt", "POST /v3/copilot/reload/skills: all workers read the skills repository anew.", goldenSkillsFile},
		// The last file: it ends the lab.
		{"endpoints/readyz.txt", "GET /readyz: a chat would work.", goldenReadyFile},
	}
}

func goldenAuthFile(g *golden) {
	sessions := g.chatPath("/sessions")
	g.show("A token in the header", http.MethodGet, sessions, "")
	g.text.WriteString("# The same with the token in the query, which is not shown:\n\n")
	resp := g.send(http.MethodGet, sessions+"?token="+g.Token(), "", []string{"Authorization", ""})
	fmt.Fprintf(g.text, "%s\n\n", resp.Status)
	g.body(resp.Header.Get("Content-Type"), g.read(resp))
	for _, c := range []struct{ title, value string }{
		{"No token", ""},
		{"Basic", "Basic YWRtaW46YWRtaW4="},
		{"Bearer and nothing", "Bearer"},
		{"A token that GNS3 doesn't know", "Bearer abc"},
	} {
		g.show(c.title, http.MethodGet, sessions, "", "Authorization", c.value)
	}
	g.show("Basic, with something in the query beside it", http.MethodGet, sessions+"?token=abc", "", "Authorization", "Basic YWRtaW46YWRtaW4=")
	g.by("student").show("A user who may not see the project: as if it weren't there", http.MethodGet, sessions, "")

	g.note("Every operation of the API without a token:")
	for _, op := range goldenOps(g.t) {
		if op.path == "/healthz" || op.path == "/readyz" { // which need none
			continue
		}
		path := strings.ReplaceAll(op.path, "{project_id}", g.project)
		resp := g.send(op.method, path, "", []string{"Authorization", ""})
		var refused schema.ErrorBody
		if err := json.Unmarshal(g.read(resp), &refused); err != nil {
			g.t.Fatal(err)
		}
		fmt.Fprintf(g.text, "%s · WWW-Authenticate: %s · %s · %s %s\n", resp.Status, resp.Header.Get("WWW-Authenticate"), refused.Message, op.method, op.path)
	}
}

// goldenSkills is a repository with a file that can be used and one that can't.
const goldenSkills = "testdata/skills"

func goldenSkillsFile(g *golden) {
	const reload = "/v3/copilot/reload/skills"
	g.show("By an administrator; one of the repository's files is broken", http.MethodPost, reload, "")
	g.by("student").show("By somebody else", http.MethodPost, reload, "")
}

func goldenReadyFile(g *golden) {
	g.show("All is there", http.MethodGet, "/readyz", "", "Authorization", "")
	if err := g.w.lab.Close(); err != nil {
		g.t.Fatal(err)
	}
	g.show("Without the GNS3 server", http.MethodGet, "/readyz", "", "Authorization", "")
	g.show("A chat then", http.MethodPost, g.chatPath("/stream"), saying("first", "hello"))
}

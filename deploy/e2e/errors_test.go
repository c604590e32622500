//go:build e2e

package e2e

import (
	"net/http"
	"testing"

	"gns3copilot/deploy/scriptmodel"
)

// testErrors reads what the web UI says when something can't be done.
func testErrors(t *testing.T) {
	site.lab.withoutModels(t)
	p := newPage(t)

	p.step(t, "errors: a wrong password", func(t *testing.T) {
		p.open(t, "/static/web-ui/bundled")
		p.fill(t, "input[formcontrolname=username]", "admin")
		p.fill(t, "input[formcontrolname=password]", "wrong")
		p.press(t, "\r")
		p.told(t, "Authentication was unsuccessful")
	})
	p.signIn(t)
	p.openProject(t)
	p.openChat(t)

	p.step(t, "errors: no model configured", func(t *testing.T) {
		p.send(t, "Is anybody there?")
		p.told(t, "LLM configuration not found")
		p.ended(t)
	})

	p.step(t, "errors: the provider refuses the key", func(t *testing.T) {
		site.lab.withModel(t, "wrong-key", "api_key", "sk-not-the-right-one")
		p.send(t, "Do you know me?")
		p.told(t, "401")
		p.ended(t)
	})

	p.step(t, "errors: the model can't be reached", func(t *testing.T) {
		site.lab.withModel(t, "nobody", "base_url", "http://127.0.0.1:9/v1")
		p.send(t, "Hello?")
		p.told(t, "127.0.0.1:9")
		p.ended(t)
	})

	p.step(t, "errors: a tool fails", func(t *testing.T) {
		site.lab.withModel(t, "scripted")
		site.model.On("Ask R99",
			func(r *scriptmodel.Reply) { r.Call(showTool, commands("R99", "show version")) },
			func(r *scriptmodel.Reply) { r.Say("There is no R99.") })
		p.send(t, "Ask R99")
		p.see(t, answers, "There is no R99.")
		p.ended(t)
		holds(t, "the card", p.cards(t, toolResults, 1)[0], "success: false", `There is no device "R99"`)
	})

	p.step(t, "errors: the project is closed meanwhile", func(t *testing.T) {
		site.lab.withModel(t, "scripted")
		site.lab.must(t, http.MethodPost, "/v3/projects/"+site.lab.project+"/close", nil, nil)
		t.Cleanup(func() {
			site.lab.must(t, http.MethodPost, "/v3/projects/"+site.lab.project+"/open", nil, nil)
			site.lab.must(t, http.MethodPost, "/v3/projects/"+site.lab.project+"/nodes/start", nil, nil)
		})
		p.send(t, "Still open?")
		p.told(t, "Project must be opened to use chat")
	})
}

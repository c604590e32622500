package dev_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"gns3copilot/deploy/dev"
	"gns3copilot/deploy/scriptmodel"
	"gns3copilot/schema"
)

// tried has a configuration tried.
func (u user) tried(path string) (found schema.ModelTest) {
	u.t.Helper()
	u.jsonAt(suite.stack, http.MethodPost, path+"/test", "", &found)
	return found
}

// TestAModelIsTried against models that are in order, that can't call tools, and that fail in the usual ways.
func TestAModelIsTried(t *testing.T) {
	u := login(t, "student")
	defer u.clearModels(suite.stack, u.models())
	const key = "sk-good-key"
	for name, c := range map[string]struct {
		answer scriptmodel.Step
		config string
		want   schema.ModelTest
		says   string
	}{
		"in order": {
			answer: func(r *scriptmodel.Reply) { r.Call("report_ready", `{"status": "ready"}`) },
			config: `"api_key": "` + key + `"`, want: schema.ModelTest{OK: true, Answered: true, Called: true}, says: "answers and calls tools",
		},
		"words alone": {
			answer: text("I am ", "ready"), config: `"api_key": "` + key + `"`, want: schema.ModelTest{Answered: true}, says: "didn't call the tool",
		},
		"an empty answer":  {answer: func(*scriptmodel.Reply) {}, config: `"api_key": "` + key + `"`, says: "empty answer"},
		"another key":      {answer: text("no"), config: `"api_key": "sk-other"`, want: schema.ModelTest{Code: schema.CodeModelAuth}, says: "refuses the API key"},
		"no key":           {answer: text("no"), config: `"max_tokens": 100`, want: schema.ModelTest{Code: schema.CodeModelAuth}, says: "refuses the API key"},
		"an empty account": {answer: status(402, reason, kind, asJSON), config: `"api_key": "` + key + `"`, want: schema.ModelTest{Code: schema.CodeModelQuota}, says: "HTTP 402"},
		"a page":           {answer: status(200, page, kind, asHTML), config: `"api_key": "` + key + `"`, want: schema.ModelTest{Code: schema.CodeModelBroken}, says: "web page"},
		"cut": {
			answer: func(r *scriptmodel.Reply) { r.Say("I"); r.Cut() }, config: `"api_key": "` + key + `"`,
			want: schema.ModelTest{Answered: true, Code: schema.CodeModelUnreachable}, says: "broke in the middle",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			model := scriptmodel.Start()
			defer model.Close()
			model.Demand(scriptmodel.Strict{Key: key})
			model.Otherwise(c.answer)
			body := strings.Replace(modelBody("to be tried", c.config), suite.model.BaseURL(), model.BaseURL(), 1)
			found := u.tried(u.models() + "/" + u.model(u.models(), body).ConfigID)
			if found.OK != c.want.OK || found.Answered != c.want.Answered || found.Called != c.want.Called || found.Code != c.want.Code ||
				!strings.Contains(found.Verdict, c.says) || (found.Hint == "") != found.OK || found.DurationMS < found.FirstContentMS {
				t.Errorf("%+v", found)
			}
			if strings.Contains(found.Verdict+found.Hint, key) {
				t.Errorf("the key is shown: %+v", found)
			}
			if (found.FirstContentMS > 0) != found.Answered {
				t.Errorf("%+v", found)
			}
		})
	}
}

// TestATryIsBooked counts for the day of who asked for it, and a model that reads too little for any turn doesn't pass.
func TestATryIsBooked(t *testing.T) {
	s := startOwn(t, func(o *dev.Options) { o.Limits.Turn.DayTokens = 200 })
	u := loginAt(t, s.URL(), "student")
	models := modelsOf(u.idAt(s.Stack))
	ready := scriptmodel.Start()
	defer ready.Close()
	ready.Otherwise(func(r *scriptmodel.Reply) { r.Call("report_ready", `{"status": "ready"}`) })
	var made schema.ModelConfig
	body := strings.NewReplacer(suite.model.BaseURL(), ready.BaseURL(), `"context_limit": 128`, `"context_limit": 1`, `"custom"`, `"Ollama"`).Replace(modelBody("small"))
	u.jsonAt(s.Stack, http.MethodPost, models, body, &made)
	var found schema.ModelTest
	for range 2 { // 150 tokens each
		u.jsonAt(s.Stack, http.MethodPost, models+"/"+made.ConfigID+"/test", "", &found)
	}
	if found.OK || !found.Called || found.Code != schema.CodeModelContext || !strings.Contains(found.Verdict, "room for 750 tokens") {
		t.Errorf("a model that reads too little: %+v", found)
	}
	if cost := found.Usage.CostUSD; cost == nil || *cost != 0 {
		t.Errorf("a provider in another spelling has no price: %+v", found.Usage)
	}
	if a := u.askAt(s.Stack, http.MethodPost, models+"/"+made.ConfigID+"/test", "", u.bearer()...); a.status != http.StatusTooManyRequests {
		t.Errorf("a third try: %d %s", a.status, a.text)
	}
	var usage schema.UsageReport
	u.jsonAt(s.Stack, http.MethodGet, "/v3/copilot/usage", "", &usage)
	if usage.Day.TotalTokens != 300 || len(usage.Sessions) != 0 {
		t.Errorf("%+v", usage)
	}
}

// TestOthersModelsAreNotTried: a try costs its owner money.
func TestOthersModelsAreNotTried(t *testing.T) {
	admin, student := login(t, "admin"), login(t, "student")
	defer admin.clearModels(suite.stack, admin.models())
	own := admin.models() + "/" + admin.model(admin.models(), modelBody("mine")).ConfigID
	if a := student.ask(http.MethodPost, own+"/test", "", student.bearer()...); a.status != http.StatusForbidden {
		t.Errorf("another's: %d %s", a.status, a.text)
	}
	stolen := strings.Replace(own, admin.id(), student.id(), 1)
	if a := student.ask(http.MethodPost, stolen+"/test", "", student.bearer()...); a.status != http.StatusNotFound {
		t.Errorf("another's as one's own: %d %s", a.status, a.text)
	}
}

// TestASessionSwitchesBetweenStrictProviders in the middle of a conversation, there and back: one wants its reasoning back, the other knows
// no such field, and each takes the other's calls.
func TestASessionSwitchesBetweenStrictProviders(t *testing.T) {
	u, session := login(t, "student"), newSession()
	defer u.clearModels(suite.stack, u.models())
	thinker, plain := scriptmodel.Start(), scriptmodel.Start()
	defer thinker.Close()
	defer plain.Close()
	thinker.Demand(scriptmodel.Strict{Key: "k1", Reasoning: "reasoning_content", ReasoningAlways: true})
	plain.Demand(scriptmodel.Strict{Key: "k2"})
	at := func(name, provider, key string, model *scriptmodel.Server) string {
		body := strings.Replace(modelBody(name, `"api_key": "`+key+`"`), suite.model.BaseURL(), model.BaseURL(), 1)
		return u.model(u.models(), strings.Replace(body, `"custom"`, `"`+provider+`"`, 1)).ConfigID
	}
	first, second := at("thinks", "deepseek", "k1", thinker), at("is strict", "openai", "k2", plain)
	turn := func(config, message string, model *scriptmodel.Server, steps ...scriptmodel.Step) {
		t.Helper()
		model.On(message, steps...)
		request := schema.ChatRequest{Message: message, SessionID: session}
		request.ModelConfigID = config
		if events := u.request(request); said(events) != message+" is answered" || last(events).StopReason != schema.StopComplete {
			t.Fatalf("%s: %s %+v", message, types(events), errorOf(events))
		}
	}
	thinks := func(arguments string) scriptmodel.Step {
		return func(r *scriptmodel.Reply) {
			r.Think("I look at the lab.")
			r.CallAs("call:0", "gns3_topology_reader", arguments)
		}
	}
	turn(first, "one", thinker, thinks(`{}`), thinks(`{ }`), text("one is answered"))
	turn(second, "two", plain, call("gns3_topology_reader", `{  }`), text("two is answered"))
	turn(first, "three", thinker, thinks(`{   }`), text("three is answered"))
	turn(second, "four", plain, text("four is answered"))
	for name, model := range map[string]*scriptmodel.Server{"thinks": thinker, "is strict": plain} {
		if refused := model.Refusals(); len(refused) > 0 {
			t.Errorf("%s refused %v: %s", name, refused[0], refused[0].Body)
		}
	}
	whole, err := json.Marshal(u.history(session))
	if err != nil || strings.Contains(string(whole), "I look at the lab") {
		t.Errorf("thoughts in the history: %v %s", err, whole)
	}
}

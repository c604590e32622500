package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"gns3copilot/apiserver/client"
	"gns3copilot/schema"

	"github.com/google/uuid"
)

type chatCmd struct {
	Message []string `arg:"" optional:"" help:"What to say."`
	serverFlags
	Project string `help:"Project, by name or id; the only opened one when not given."`
	Session string `help:"Conversation to go on with; a new one when not given."`
	Mode    string `help:"teaching_assistant, lab_automation_assistant or troubleshooting_injection; the server's default when not given."`
	Model   string `name:"model-config" help:"Model configuration that answers, by name or id, or the word server for the server's own model; your default when not given."`
	Attach  bool   `env:"-" help:"Send nothing: follow the last turn of --session from its beginning."`
	JSON    bool   `name:"json" help:"Print each event as a line of JSON."`
	Full    bool   `help:"Show all of what devices say, however long."`
}

// Help explains the command.
func (chatCmd) Help() string {
	return "Streams the answer, and shows the tools that run with each device's progress. What changes a device is shown line by line and asked about. " +
		"Ctrl-C aborts the turn. " +
		"A lost connection is taken up again. Exit status: 0 done, 1 error, 130 aborted."
}

// Validate names every fault of the flags.
func (c *chatCmd) Validate() error {
	bad := c.serverFlags.faults()
	if c.Session != "" && !schema.ValidSessionID(c.Session) {
		bad = append(bad, "--session: must match [A-Za-z0-9_-]{1,128}")
	}
	if c.Mode != "" && !schema.Mode(c.Mode).Valid() {
		bad = append(bad, fmt.Sprintf("--mode: %q is none of teaching_assistant, lab_automation_assistant, troubleshooting_injection", c.Mode))
	}
	switch {
	case c.Attach && c.Session == "":
		bad = append(bad, "--attach: needs --session")
	case c.Attach && len(c.Message) > 0:
		bad = append(bad, "--attach: sends no message")
	case !c.Attach && strings.TrimSpace(strings.Join(c.Message, " ")) == "":
		bad = append(bad, `message: missing, such as "show version on R1"`)
	}
	return faultsError(bad)
}

// Run sends the message and follows the turn to its end.
func (c *chatCmd) Run(ctx context.Context, out *console) (err error) {
	defer func() { err = withLogin(err) }()
	api, err := c.login(ctx)
	if err != nil {
		return err
	}
	project, err := c.project(ctx, api)
	if err != nil {
		return err
	}
	model, err := c.model(ctx, api)
	if err != nil {
		return err
	}
	session := c.Session
	if session == "" {
		session = uuid.NewString()
	}
	v := newView(out, c.JSON, c.Full)
	if !c.JSON {
		v.note("session " + session)
	}
	err = c.follow(ctx, api, project, session, model, v)
	v.end()
	if schema.CodeOf(err) == schema.CodeUnauthorized && v.failure != nil { // the server's word in the stream; a refused message has none
		return schema.Errorf(schema.CodeUnauthorized, "%s", schema.AsError(err).Message).
			WithHint("The turn goes on; follow it with chat --attach --session %s.", session)
	}
	if err != nil {
		return err
	}
	switch {
	case v.aborted:
		return errAborted
	case v.failure != nil:
		return v.failure
	}
	return nil
}

// follow hands the turn's events to the view. The first Ctrl-C aborts the turn and waits for its end; the second leaves at once.
func (c *chatCmd) follow(ctx context.Context, api *client.Client, project, session, model string, v *view) error {
	// The turn goes on until it says that it is done, so the stream isn't cut by the first interrupt.
	stream, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		abortThenLeave(api, project, session, v, leave, done)
	}()
	defer func() { <-watched }()
	defer close(done)
	questions := newAsker(stream, api, project, session, v, os.Stdin)
	defer questions.close()
	show := func(ev client.Received) error {
		if err := v.show(ev); err != nil || c.JSON {
			return err
		}
		questions.note(ev.Event)
		return nil
	}
	if c.Attach {
		return api.Follow(stream, project, session, "", show)
	}
	request := schema.ChatRequest{Message: strings.Join(c.Message, " "), SessionID: session, CopilotMode: schema.Mode(c.Mode)}
	request.ModelConfigID = model
	lost := func(error) {
		v.note("the connection was lost; attaching again")
		questions.remind()
	}
	err := api.Turn(stream, project, request, uuid.NewString(), show, lost)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errAborted
	}
	return err
}

// abortWait bounds how long an abort is waited for.
const abortWait = 10 * time.Second

func abortThenLeave(api *client.Client, project, session string, v *view, leave func(), done <-chan struct{}) {
	defer leave()
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt)
	defer signal.Stop(again)
	v.note("aborting (Ctrl-C again leaves at once)")
	ctx, cancel := context.WithTimeout(context.Background(), abortWait)
	defer cancel()
	if err := api.Abort(ctx, project, session); err != nil {
		v.note("the abort didn't reach the server: " + schema.AsError(err).Message)
		return
	}
	select {
	case <-done:
	case <-again:
	case <-ctx.Done():
	}
}

// model finds the configuration that was named: its id, or "" when none was.
func (c *chatCmd) model(ctx context.Context, api *client.Client) (string, error) {
	if c.Model == "" || c.Model == schema.ServerModels {
		return c.Model, nil
	}
	list, err := api.Models(ctx)
	if err != nil {
		return "", err
	}
	found, names := "", []string{schema.ServerModels}
	for _, m := range list.Configs {
		names = append(names, fmt.Sprintf("%s (%s)", m.Name, m.ConfigID))
		switch {
		case m.ConfigID == c.Model:
			return m.ConfigID, nil
		case m.Name == c.Model && found != "":
			return "", schema.Errorf(schema.CodeConflict, "There are several model configurations %q.", c.Model).WithHint("Name one by its id.")
		case m.Name == c.Model:
			found = m.ConfigID
		}
	}
	if found == "" {
		return "", schema.Errorf(schema.CodeNotFound, "You have no model configuration %q.", c.Model).WithHint("You may use:\n    %s", strings.Join(names, "\n    "))
	}
	return found, nil
}

// project finds the project that was named, or the only opened one.
func (c *chatCmd) project(ctx context.Context, api *client.Client) (string, error) {
	projects, err := api.Projects(ctx)
	if err != nil {
		return "", err
	}
	var opened, all []string
	byName := map[string]string{}
	for _, p := range projects {
		all = append(all, fmt.Sprintf("%s (%s, %s)", p.Name, p.ID, p.Status))
		byName[p.Name], byName[p.ID] = p.ID, p.ID
		if p.Opened() {
			opened = append(opened, p.ID)
		}
	}
	if id, ok := byName[c.Project]; ok {
		return id, nil
	}
	if c.Project == "" && len(opened) == 1 {
		return opened[0], nil
	}
	byID := uuid.Validate(c.Project) == nil
	if byID { // one that lists don't show
		if p, err := api.Project(ctx, c.Project); err == nil {
			return p.ID, nil
		}
	}
	message := "There are several opened projects."
	switch {
	case c.Project != "":
		message = fmt.Sprintf("There is no project %q.", c.Project)
	case len(opened) == 0:
		message = "No project is opened."
	}
	if len(all) == 0 {
		hint := "If you have rights to a single project name it by its id: --project UUID, as in the address of its page."
		if byID {
			hint = "Look whether the id is right, and whether you have rights to the project."
		}
		return "", schema.Errorf(schema.CodeNotFound, "%s GNS3 lists no project for you.", message).WithHint("%s", hint)
	}
	return "", schema.Errorf(schema.CodeNotFound, "%s", message).
		WithHint("Name one with --project. You may see:\n    %s", strings.Join(all, "\n    "))
}

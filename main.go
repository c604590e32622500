// Gns3-copilot is an assistant for network labs on GNS3. See README.md, or run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"gns3copilot/schema"

	"github.com/alecthomas/kong"
)

// exitAborted is the exit status of a chat that the user ended, as shells report an interrupt.
const exitAborted = 130

// errAborted ends the program with exitAborted; what there was to say has been said.
var errAborted = errors.New("aborted")

type cli struct {
	Dev       devCmd       `cmd:"" help:"Run everything on this machine: API, workers and whatever else isn't named by a flag."`
	API       apiCmd       `cmd:"" name:"api" help:"Run the HTTP API alone."`
	Worker    workerCmd    `cmd:"" help:"Run a worker alone."`
	NATS      natsCmd      `cmd:"" name:"nats" help:"Run the embedded event stream (NATS) alone, for installations of several processes."`
	Chat      chatCmd      `cmd:"" help:"Send a message to a running server and follow the answer."`
	Approvals approvalsCmd `cmd:"" help:"List what waits for a human's word, and decide."`
	Migrate   migrateCmd   `cmd:"" help:"Bring the database up to date and register Temporal's search attributes."`
	Forget    forgetCmd    `cmd:"" help:"Have the chats of a project removed that was deleted in GNS3 while the server didn't run."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without the process around it. It returns the exit status: 0 done, 1 error, 130 aborted.
func run(args []string, stdout, stderr io.Writer) int {
	var c cli
	exited, status := false, 0
	parser, err := kong.New(&c, kong.Name("gns3-copilot"),
		kong.Description("An assistant for network labs on GNS3. Every setting has an environment variable too: --gns3-url is COPILOT_GNS3_URL."),
		kong.DefaultEnvars(envPrefix), kong.Writers(stdout, stderr), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"data": defaultData(), "cache": defaultCache()},
		kong.Exit(func(code int) { exited, status = true, code }))
	if err != nil {
		return report(stderr, err)
	}
	parsed, err := parser.Parse(args)
	if exited { // --help has been printed
		return status
	}
	for _, name := range unknownVariables(parser.Model) {
		fmt.Fprintf(stderr, "gns3-copilot: the variable %s is set, and no setting is named so\n", name)
	}
	if err != nil {
		fmt.Fprintf(stderr, "gns3-copilot: %v\n%sTry: gns3-copilot %s--help\n", err, variableHint(err), commandOf(err))
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(&console{out: stdout, err: stderr})
	return report(stderr, parsed.Run())
}

// commandOf is the command whose arguments are faulty with a blank behind it, since its flags are in its own help; empty where none was
// understood.
func commandOf(err error) string {
	if command := selected(err); command != nil {
		return command.Name + " "
	}
	return ""
}

func selected(err error) *kong.Node {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		return parse.Context.Selected()
	}
	return nil
}

// console is where a command writes: answers and progress on out, complaints and logs on err.
type console struct{ out, err io.Writer }

// report says what went wrong, once, in words for a person.
func report(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errAborted):
		return exitAborted
	}
	e := schema.AsError(err)
	fmt.Fprintf(stderr, "gns3-copilot: %s\n", e.Message)
	if e.Hint != "" {
		fmt.Fprintf(stderr, "  %s\n", e.Hint)
	}
	if e.Err != nil {
		fmt.Fprintf(stderr, "  cause: %v\n", e.Err)
	}
	return 1
}

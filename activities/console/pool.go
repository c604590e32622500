package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/observe"
)

// Target names one device console.
type Target struct {
	Device string // for messages
	// Node is the node's id: what is known of one node's console says nothing of another that has its address by now. Without it the
	// address stands for the node.
	Node    string
	Address string // host:port
	// Platform is "vpcs", "frr", "cisco_iosxe" or an alias such as "cisco_ios_telnet"; "" finds it out from the prompt and
	// `show version`.
	Platform string
	// Check, which may be nil, is asked before the first command of a Run, once it is known what the device is. Its error ends the Run.
	Check func(platform string) error
	// Locate, which may be nil, tells where the node's console is now. It is asked before a new connection is used when the Address may be
	// out of date: after a wait for the console, a refusal, or the end of a session that was kept open. The Run or Push goes there; an
	// error ends it.
	Locate func(ctx context.Context) (address string, err error)
}

// node is what the device is remembered by.
func (t Target) node() string { return cmp.Or(t.Node, t.Address) }

// Output is what one command gave.
type Output struct {
	Command string
	// Prompt is what the console showed in front of the command, such as "R1#", "R1(config-if)#" or "PC1> ", with the blank
	// behind it where the device has one. It is "" when the command was not typed, and within a text block.
	Prompt string
	// Text is the output without the echo and the prompts, lines ended by "\n", the line ends before the prompt left out.
	Text string
	// Err is nil when the device took the command and it ended. Else its code is CodeCommandRejected (the message has the
	// device's own line), CodeCommandTimeout, CodeDeviceQuestion, CodeInvalid (not a single printable line, so not sent),
	// CodeAborted, CodeConsoleClosed or CodeConsoleSilent.
	Err *schema.Error
}

// Report is the result of a Run.
type Report struct {
	Platform string // what the device turned out to be
	Note     string // what the user should know, such as a tag that the device contradicts; often empty
	// Outputs has an entry for each command that was begun, in order: fewer than the commands when the Run failed.
	Outputs []Output
}

// Progress is told the state of a Run: waiting, connecting, running (done of total commands are over, detail is the next),
// done or failed. It is called from the Run's goroutine and must not block.
type Progress func(state string, done, total int, detail string)

// Options set the pool's limits. A zero field takes its default.
type Options struct {
	Logger         *slog.Logger  // default: none
	ConnectTimeout time.Duration // until the console accepts a connection, refusals tried again; 5 s
	PromptTimeout  time.Duration // of silence until a prompt must have come; 10 s
	BootTimeout    time.Duration // until a console that does print something must show a prompt; 2 min
	CommandTimeout time.Duration // 30 s
	SlowTimeout    time.Duration // of ping, traceroute and their like; 60 s
	IdleTimeout    time.Duration // how long a session is kept open after its last use; 20 s
	RestartTimeout time.Duration // after a confirmation, until what shows no prompt counts as a device that restarts; 5 s
	MaxOutput      int           // bytes kept of one command's output, its first and last half; 8 MiB
	Metrics        *observe.Metrics
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&o.ConnectTimeout, 5*time.Second)
	set(&o.PromptTimeout, 10*time.Second)
	set(&o.BootTimeout, 2*time.Minute)
	set(&o.CommandTimeout, 30*time.Second)
	set(&o.SlowTimeout, time.Minute)
	set(&o.IdleTimeout, 20*time.Second)
	set(&o.RestartTimeout, 5*time.Second)
	if o.MaxOutput <= 0 {
		o.MaxOutput = 8 << 20
	}
	return o
}

// Pool runs commands on consoles. There is one Run or Push at a time on a console; different consoles don't wait for each
// other. Its methods may be called from any goroutine.
type Pool struct {
	options Options
	known   catalog
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup // Runs and Pushes, and sessions that are kept open

	mu       sync.Mutex
	consoles map[string]*console
	restarts map[string]time.Time // nodes whose device took a confirmation and hasn't been seen since
}

// console is what the pool holds for an address while anybody uses it.
type console struct {
	turn   chan struct{} // holds a token while a Run or Push is on
	users  int           // Runs and Pushes that are on or wait, and the kept session
	parked *parked       // the session that is kept open; nil while it is in use
}

// errPoolClosed is the cause of Runs and Pushes that Close has ended.
var errPoolClosed = errors.New("console pool closed")

// NewPool makes a pool. It fails only when a platform file is wrong.
func NewPool(o Options) (*Pool, error) {
	known, err := loadCatalog()
	if err != nil {
		return nil, fmt.Errorf("console platforms: %w", err)
	}
	p := &Pool{options: o.withDefaults(), known: known, consoles: make(map[string]*console),
		restarts: make(map[string]time.Time)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Close interrupts what runs, ends the sessions that are kept open, and waits for all of it. What is begun later fails.
func (p *Pool) Close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.work.Wait()
}

// Run runs the commands one after the other on one device and leaves its console at the base prompt. A command that fails
// doesn't keep the next from running; an error means that the console can't be used, or that ctx ended, and comes with the
// outputs so far. It is a *schema.Error of CodeConsoleRefused, CodeConsoleSilent, CodeConsoleClosed, CodeDeviceQuestion or
// CodeCommandTimeout; or, wrapping ctx.Err(), of CodeAborted or CodeConsoleBusy (others used the console all the time); or what Check or
// Locate returned.
// Progress may be nil.
func (p *Pool) Run(ctx context.Context, t Target, commands []string, progress Progress) (Report, error) {
	return p.run(ctx, t, commands, 0, progress)
}

// run is Run, with so many confirmations given to each command.
func (p *Pool) run(ctx context.Context, t Target, commands []string, confirms int, progress Progress) (Report, error) {
	if progress == nil {
		progress = func(string, int, int, string) {}
	}
	r := &run{commands: commands, confirms: confirms, visit: visit{pool: p, target: t, total: len(commands), progress: progress}}
	err := r.do(ctx, r.commandsOn)
	if err != nil {
		progress("failed", len(r.report.Outputs), len(commands), schema.AsError(err).Message)
		return r.report, err
	}
	progress("done", len(commands), len(commands), "")
	return r.report, nil
}

// run is one call of Run or RunConfirmed.
type run struct {
	visit
	commands []string
	confirms int // how many confirmations each command may ask for
	report   Report
}

// commandsOn runs the commands in the session.
func (r *run) commandsOn(ctx context.Context, s *session) error {
	r.report = Report{Platform: s.platform.name, Note: joined(s.notes(), s.userNote())}
	if r.target.Check != nil {
		if err := r.target.Check(s.platform.name); err != nil {
			return err
		}
	}
	for i, command := range r.commands {
		command = strings.TrimSpace(command)
		r.progress("running", i, len(r.commands), command)
		if invalid := checkCommand(command); invalid != nil {
			r.report.Outputs = append(r.report.Outputs, Output{Command: command, Err: invalid})
			continue
		}
		if ctx.Err() != nil {
			return aborted(r.target.Device, fmt.Sprintf("%q was not begun", command), ctx.Err())
		}
		limit := r.pool.options.CommandTimeout
		if s.platform.slow(command) {
			limit = r.pool.options.SlowTimeout
		}
		out, err := r.measured(ctx, s, command, limit)
		r.report.Outputs = append(r.report.Outputs, out)
		if s.restarts {
			r.pool.restarted(r.target.node())
		}
		if err != nil {
			return err
		}
		if s.restarts {
			r.report.Note = joined(r.report.Note, r.target.Device+" took the confirmation and has not come back to its prompt yet; it restarts.")
			return nil
		}
	}
	return nil
}

// measured runs a command, and tells how long it took and how it ended.
func (r *run) measured(ctx context.Context, s *session, command string, limit time.Duration) (Output, error) {
	ctx, span := observe.Start(ctx, "console command", observe.DeviceKey.String(r.target.Device), observe.PlatformKey.String(s.platform.name))
	start := time.Now()
	out, err := s.confirmed(ctx, command, limit, r.confirms)
	failure := err
	if err == nil && out.Err != nil {
		failure = out.Err
	}
	r.pool.options.Metrics.Command(ctx, s.platform.name, failure, time.Since(start))
	observe.End(span, failure)
	return out, err
}

// checkCommand refuses what isn't one line of text: line ends and control keys would do something else than run it.
func checkCommand(command string) *schema.Error {
	if command == "" {
		return schema.Errorf(schema.CodeInvalid, "An empty command was not sent.")
	}
	if strings.ContainsFunc(command, func(r rune) bool { return r < ' ' || r == keyDEL }) {
		return schema.Errorf(schema.CodeInvalid, "The command %q was not sent: it is not a single line of text.", command).
			WithHint("Send each line as a command of its own.")
	}
	return nil
}

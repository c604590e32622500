package temporaldev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/sdk/client"

	"gns3copilot/schema"
)

const (
	readyTimeout = time.Minute
	dialTimeout  = 2 * time.Second
	readyPoll    = 20 * time.Millisecond
	portAttempts = 3
	tailBytes    = 2000
)

// errPortTaken marks a start that failed because somebody took a port between choosing and listening.
var errPortTaken = errors.New("a port was taken")

// Server is a running dev server. Its owner calls Stop, also when it has ended by itself.
type Server struct {
	options Options
	ports   ports
	owner   *flock.Flock
	cmd     *exec.Cmd
	done    chan struct{}
	exit    error // how the process ended; read after done

	stop    sync.Once
	asked   chan struct{} // closed when Stop begins
	stopErr error
}

// Start runs the dev server on o.DataDir and returns when its frontend answers, well within a second when the binary is
// there. A server that a killed process left on the folder is ended first. ctx bounds the start, not the server's life.
//
// Errors: CodeInvalid for options that can't be used, CodeConflict when another process has the folder or a port that was asked
// for is taken, CodeUnavailable when there is no CLI or the server doesn't come up.
func Start(ctx context.Context, o Options) (*Server, error) {
	o, err := prepare(o)
	if err != nil {
		return nil, err
	}
	owner := flock.New(o.path(lockFile))
	free, err := owner.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if !free {
		return nil, schema.Errorf(schema.CodeConflict, "Another process runs its Temporal server in %s.", o.DataDir).
			WithHint("End that one, or choose another data folder.")
	}
	s, err := start(ctx, o)
	if err != nil {
		owner.Unlock()
		return nil, fmt.Errorf("start Temporal's dev server: %w", err)
	}
	s.owner = owner
	return s, nil
}

// prepare completes the options and makes the data folder. Its path is without symbolic links: it identifies the server.
func prepare(o Options) (Options, error) {
	o, err := o.withDefaults()
	if err != nil {
		return o, err
	}
	if o.DataDir == "" {
		return o, schema.Errorf(schema.CodeInvalid, "Temporal's dev server needs a data folder.")
	}
	if _, err := attributeTypes(o); err != nil {
		return o, err
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return o, fmt.Errorf("make the data folder: %w", err)
	}
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return o, err
	}
	o.DataDir, err = filepath.EvalSymlinks(o.DataDir)
	return o, err
}

// start does Start's work once the folder is ours.
func start(ctx context.Context, o Options) (*Server, error) {
	if err := endOrphan(ctx, o); err != nil {
		return nil, err
	}
	binary, err := Find(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := prepareDatabase(o); err != nil {
		return nil, err
	}
	// One old log is kept, so the two together stay as small as two runs.
	if err := os.Rename(o.path(logFile), o.path(logFile+".1")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		s, err := attemptStart(ctx, binary, o)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, errPortTaken) || attempt == portAttempts {
			return nil, err
		}
		o.Logger.Info("starting the Temporal server again on other ports", "error", err)
	}
}

func attemptStart(ctx context.Context, binary string, o Options) (*Server, error) {
	chosen, err := choosePorts(o)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	s, err := launch(binary, chosen, o)
	if err != nil {
		return nil, err
	}
	if err := s.settle(ctx); err != nil {
		return nil, errors.Join(err, s.shutDown(ctx))
	}
	o.Logger.Info("Temporal's dev server answers", "address", s.Address(), "ui", s.UIAddress(), "pid", s.PID(),
		"binary", binary, "took", time.Since(begun).Round(time.Millisecond))
	return s, nil
}

// launch starts the process, which inherits the pid file's lock.
func launch(binary string, chosen ports, o Options) (*Server, error) {
	output, err := os.OpenFile(o.path(logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer output.Close()
	pidfile, err := lockPIDFile(o, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if pidfile == nil {
		return nil, schema.Errorf(schema.CodeConflict, "Another Temporal server has just been started in %s.", o.DataDir)
	}
	defer pidfile.Close()

	cmd := exec.Command(binary, o.arguments(chosen)...)
	cmd.Dir = o.DataDir
	cmd.Env = serverEnvironment(cmd)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.ExtraFiles = []*os.File{pidfile}
	cmd.SysProcAttr = processAttributes()

	s := &Server{options: o, ports: chosen, cmd: cmd, done: make(chan struct{}), asked: make(chan struct{})}
	started := make(chan error, 1)
	go s.run(started)
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("run %s: %w", binary, err), remove(o.path(pidFile)))
	}
	if err := writeRecord(pidfile, s.PID()); err != nil {
		pidfile.Close()
		err = fmt.Errorf("write the pid file: %w", err)
		if errors.Is(err, os.ErrNotExist) { // there is no such process any more: it ended that quickly
			<-s.done
			err = s.earlyEnd()
		}
		return nil, errors.Join(err, s.shutDown(context.Background()))
	}
	return s, nil
}

// run starts the process and waits for it, both on one thread that does nothing else: on Linux the end of the thread that
// started it would be taken for ours, and end the server.
func (s *Server) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := s.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	s.exit = s.cmd.Wait()
	close(s.done)
}

// settle waits for the server and leaves the folder as a later start expects it.
func (s *Server) settle(ctx context.Context) error {
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := register(ctx, c, s.options); err != nil {
		return err
	}
	if err := remove(s.options.path(creatingFile)); err != nil {
		return err
	}
	return savePorts(s.options, s.ports)
}

// connect returns a client as soon as the frontend answers its first call.
func (s *Server) connect(ctx context.Context) (client.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, schema.Errorf(schema.CodeUnavailable,
		"Temporal's dev server didn't answer within %s.", readyTimeout).WithHint("See %s.", s.options.path(logFile)))
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		c, err := s.dial(ctx)
		select {
		case <-s.done: // what answered then is somebody else's, on a port that we lost
			if err == nil {
				c.Close()
			}
			return nil, s.earlyEnd()
		default:
		}
		if err == nil {
			return c, nil
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

func (s *Server) dial(ctx context.Context) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return client.DialContext(ctx, client.Options{HostPort: s.Address(), Namespace: s.options.Namespace, Logger: quietSDK()})
}

// earlyEnd tells a lost race for a port from other reasons to end. Only the log knows, and not always in plain words: the server also
// takes ports for itself, and panics while it is built when it loses one of those.
func (s *Server) earlyEnd() error {
	err := s.ended()
	text, readErr := os.ReadFile(s.options.path(logFile))
	if readErr == nil && (bytes.Contains(text, []byte("address already in use")) || bytes.Contains(text, []byte("panic: "))) {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return err
}

// ended describes a process that ended by itself.
func (s *Server) ended() error {
	text, err := os.ReadFile(s.options.path(logFile))
	if err != nil {
		text = []byte(err.Error())
	}
	how := "without an error"
	if s.exit != nil {
		how = s.exit.Error()
	}
	return schema.Errorf(schema.CodeUnavailable, "Temporal's dev server ended by itself.").
		WithHint("See %s.", s.options.path(logFile)).WithCause(fmt.Errorf("%s: %s", how, tail(string(text))))
}

// tail is the end of a text that may be long.
func tail(text string) string {
	return strings.TrimSpace(text[max(0, len(text)-tailBytes):])
}

// Address is the frontend's host:port, for client.Dial.
func (s *Server) Address() string { return s.at(s.ports.Frontend) }

// UIAddress is the URL of the UI, for a person.
func (s *Server) UIAddress() string { return "http://" + s.at(s.ports.UI) }

// at is one of the server's ports as seen from this machine.
func (s *Server) at(port int) string {
	ip := s.options.IP
	if net.ParseIP(ip).IsUnspecified() {
		ip = "127.0.0.1"
	}
	return net.JoinHostPort(ip, strconv.Itoa(port))
}

// PID is the server's process id, and its process group's.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Done is closed when the server has ended, by itself or by Stop; Err tells which.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is nil while the server runs and after Stop; CodeUnavailable, with the end of its log as the cause, when it ended by
// itself.
func (s *Server) Err() error {
	select {
	case <-s.asked:
		return nil
	default:
	}
	select {
	case <-s.done:
		return s.ended()
	default:
		return nil
	}
}

// Stop ends the server (SIGTERM, after 10 s or when ctx ends SIGKILL), waits until it is gone and frees the folder. It may be
// called again, and tells the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		close(s.asked)
		s.stopErr = errors.Join(s.shutDown(ctx), s.owner.Unlock())
	})
	return s.stopErr
}

// shutDown ends the process and what it may have started, and removes the pid file.
func (s *Server) shutDown(ctx context.Context) error {
	if err := end(ctx, s.PID(), s.alive); err != nil {
		return err
	}
	return remove(s.options.path(pidFile))
}

// alive looks at the process first, since somebody may have deleted the pid file, and then at the lock: where the CLI on PATH is
// a script, the server outlives it.
func (s *Server) alive() (bool, error) {
	select {
	case <-s.done:
		return running(s.options)
	default:
		return true, nil
	}
}

// Package temporaldev runs a Temporal dev server as a child process: it finds or builds the server's binary, starts it on a
// folder that keeps its state, and ends it without leaving anything behind.
//
// Two servers on one database file both start and lose tasks, so the folder is guarded twice. The process that calls Start
// holds DataDir/temporal.lock for as long as it owns the folder. The server itself inherits a lock on DataDir/temporal.pid: the
// kernel frees it when the last process of the server is gone, and not before, whatever became of the one that started it.
package temporaldev

import (
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"gns3copilot/schema"
)

// Version is the release of Temporal's CLI that is downloaded or built when the machine has none.
const Version = "v1.5.1"

// Files in Options.DataDir.
const (
	databaseFile = "temporal.db"
	logFile      = "temporal.log"
	pidFile      = "temporal.pid"
	lockFile     = "temporal.lock"
	portsFile    = "temporal.ports"
	creatingFile = "temporal.creating"
)

// Options says where the server keeps its state and how it is reached. Only DataDir is needed.
type Options struct {
	// DataDir holds the database, the log, the pid file and the remembered ports. It is created when missing.
	DataDir string
	// CacheDir holds the server's binary, shared by all projects and tests of the user; gns3-copilot in the user's cache if "".
	CacheDir string
	// IP is the address that the frontend and the UI listen on; 127.0.0.1 if "".
	IP string
	// Port and UIPort are the frontend's and the UI's; 0 takes those of the last start in DataDir, or free ones.
	Port, UIPort int
	// Namespace is created if needed; "default" if "".
	Namespace string
	// SearchAttributes are registered before the server answers: name to type ("Keyword", "Int", …).
	SearchAttributes map[string]string
	// Logger is for operators; nil discards.
	Logger *slog.Logger
	// Progress gets a line for the person at the terminal when something takes long; nil discards. Start and Find call it
	// from the goroutine that called them.
	Progress func(line string)
}

// withDefaults fills in what is empty and makes the folders absolute.
func (o Options) withDefaults() (Options, error) {
	if o.CacheDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, schema.Errorf(schema.CodeUnavailable, "There is no folder for cached files.").
				WithHint("Set HOME or XDG_CACHE_HOME.").WithCause(err)
		}
		o.CacheDir = filepath.Join(cache, "gns3-copilot")
	}
	var err error
	if o.CacheDir, err = filepath.Abs(o.CacheDir); err != nil {
		return o, err
	}
	if o.IP == "" {
		o.IP = "127.0.0.1"
	}
	if net.ParseIP(o.IP) == nil {
		return o, schema.Errorf(schema.CodeInvalid, "%q is not an IP address that Temporal could listen on.", o.IP)
	}
	if o.Namespace == "" {
		o.Namespace = "default"
	}
	if o.Logger == nil {
		o.Logger = quiet()
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// path is a file in DataDir.
func (o Options) path(name string) string { return filepath.Join(o.DataDir, name) }

// binary is where the cache keeps the CLI. The folder is named after what is in it, so that `GOBIN=folder go install …` by
// hand puts the binary where it is looked for.
func (o Options) binary() string {
	folder := "temporal-" + Version + "-" + runtime.GOOS + "-" + runtime.GOARCH
	return filepath.Join(o.CacheDir, folder, "temporal")
}

// arguments is the server's command line. Find accepts only a binary that knows each of these flags.
func (o Options) arguments(p ports) []string {
	args := []string{
		"server", "start-dev",
		"--ip", o.IP,
		"--port", strconv.Itoa(p.Frontend),
		"--ui-port", strconv.Itoa(p.UI),
		"--namespace", o.Namespace,
		"--db-filename", o.path(databaseFile),
		// Without these every commit is flushed to the disk, several times for each step of a turn.
		"--sqlite-pragma", "journal_mode=wal",
		"--sqlite-pragma", "synchronous=normal",
		// Eager starts save the two polls between a request and its first activity.
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		"--dynamic-config-value", "system.enableEagerWorkflowStart=true",
		// A shard looks for new tasks 20 times a second at most, and all workflows of a dev server share one: once that is used up, each step
		// of each turn waits for the next 50 ms.
		"--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000",
		"--log-level", "warn",
		"--color", "never",
	}
	for _, name := range slices.Sorted(maps.Keys(o.SearchAttributes)) {
		args = append(args, "--search-attribute", name+"="+o.SearchAttributes[name])
	}
	return args
}

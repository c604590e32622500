package temporaldev

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"gns3copilot/schema"
)

// checkTimeout bounds a binary's `--help`, which takes some 50 ms.
const checkTimeout = 20 * time.Second

// Find gives the path of a Temporal CLI that can run the dev server: the one on PATH, the cached one, or a new one in the
// cache, downloaded or built with the go command. Building takes minutes and says so through Progress; of several processes one
// builds and the others wait.
//
// Errors: CodeUnavailable when there is no CLI and none can be had; the hint names the command to run by hand.
func Find(ctx context.Context, o Options) (string, error) {
	o, err := o.withDefaults()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("temporal"); err == nil {
		err := check(ctx, path, o)
		if err == nil {
			return path, nil
		}
		o.Logger.Info("the temporal on PATH can't be used", "path", path, "error", err)
	}
	cached := o.binary()
	if check(ctx, cached, o) == nil {
		return cached, nil
	}
	if err := obtain(ctx, cached, o); err != nil {
		return "", fmt.Errorf("find Temporal's CLI: %w", err)
	}
	return cached, nil
}

// check asks a binary for its help and says which of our flags it lacks: PATH may hold an old release, or another program
// of that name. The version can't tell, since a CLI built by the go command calls itself 0.0.0-DEV.
func check(ctx context.Context, path string, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "server", "start-dev", "--help")
	cmd.Env = serverEnvironment(cmd)
	cmd.WaitDelay = time.Second
	help, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("ask %s for its help: %w", path, err)
	}
	for _, arg := range o.arguments(ports{}) {
		if strings.HasPrefix(arg, "--") && !strings.Contains(string(help), arg+" ") {
			return schema.Errorf(schema.CodeUnavailable, "%s has no flag %s; it may be too old.", path, arg)
		}
	}
	return nil
}

// serverEnvironment is ours without what isn't the server's business: our own settings hold secrets, and TEMPORAL_ENV or
// TEMPORAL_PROFILE, meant for the user's other servers, end it at once if they name what isn't configured.
func serverEnvironment(cmd *exec.Cmd) []string {
	var env []string
	for _, variable := range cmd.Environ() {
		if !strings.HasPrefix(variable, "TEMPORAL_") && !strings.HasPrefix(variable, "COPILOT_") {
			env = append(env, variable)
		}
	}
	return env
}

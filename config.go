package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// What all settings have in common: faults, variables, and the defaults that a machine decides. The settings themselves are in groups of flags,
// a file for what belongs together. Each group gives its faults as a list, so that a command's Validate can name all at once.

// faultsError names every fault at once, or is nil without one.
func faultsError(lists ...[]string) error {
	all := slices.Concat(lists...)
	if len(all) == 0 {
		return nil
	}
	return faults(all)
}

// faults are lines that each name a flag or an argument, and what is wrong with it.
type faults []string

// Error gives all lines.
func (f faults) Error() string {
	return "these settings can't be used:\n  " + strings.Join(f, "\n  ")
}

// variableHint tells whose setting can't be used that it has a variable too. It is empty when no fault is about such a setting.
func variableHint(err error) string {
	bad, _ := errors.AsType[faults](err)
	command := selected(err)
	for _, fault := range bad {
		about, _, _ := strings.Cut(fault, ":")
		name, _, _ := strings.Cut(about, ",") // the first, when they are several
		for _, flag := range command.Flags {
			if "--"+flag.Name == name && len(flag.Envs) > 0 {
				return fmt.Sprintf("Each setting has a variable too: %s is %s.\n", name, flag.Envs[0])
			}
		}
	}
	return ""
}

// envPrefix begins the names of variables that settings are read from.
const envPrefix = "COPILOT"

// notSettings are variables that begin so and are none: those of tests, and what Kubernetes and Docker set to tell of a service that is named so.
var notSettings = regexp.MustCompile(`^COPILOT_(TEST|E2E)_|_SERVICE_|_PORT(_|$)`)

// unknownVariables lists variables that look like settings and are none, such as ones that are misspelt.
func unknownVariables(app *kong.Application) []string {
	known := map[string]bool{}
	for _, command := range app.Children {
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				known[name] = true
			}
		}
	}
	var unknown []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, envPrefix+"_") && !known[name] && !notSettings.MatchString(name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func urlFaults(flag, value string, schemes ...string) []string {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme) {
		return nil
	}
	return []string{fmt.Sprintf("%s: not a URL that begins with %s://", flag, strings.Join(schemes, ":// or "))}
}

func addressFaults(flag, value string) []string {
	if _, _, err := net.SplitHostPort(value); err != nil {
		return []string{fmt.Sprintf("%s: %q is not HOST:PORT", flag, value)}
	}
	return nil
}

// editor is the person's editor.
func editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := os.Getenv(name); e != "" {
			return e
		}
	}
	return "vi"
}

// defaultCache is where a worker keeps what it can fetch again: the user's cache directory, or nowhere.
func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "gns3-copilot")
}

// defaultData is where dev keeps its data: the user's data directory, else the working one.
func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "gns3-copilot")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "gns3-copilot-data"
	}
	return filepath.Join(home, ".local", "share", "gns3-copilot")
}

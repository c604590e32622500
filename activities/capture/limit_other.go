//go:build !linux

package capture

import "syscall"

// attributes give the program a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// limit does nothing: only Linux lets one process bound another.
func limit(int) error { return nil }

package capture

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes give the program a process group of its own, and end it with the worker, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// limit bounds what a process may take, should the checks of its arguments or its dissectors fail: memory, time on the processor, and what it
// writes, which is nothing but its output.
func limit(pid int) error {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_AS:    1 << 30,
		unix.RLIMIT_CPU:   uint64(timeout.Seconds()),
		unix.RLIMIT_FSIZE: 1,
		unix.RLIMIT_CORE:  0,
	} {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended already
			return fmt.Errorf("limit resource %d: %w", resource, err)
		}
	}
	return nil
}

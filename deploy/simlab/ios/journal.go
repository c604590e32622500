package ios

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"gns3copilot/deploy/simlab/terminal"
)

// journalSize is how many bytes of messages "show logging" remembers, as IOS does by default.
const journalSize = 4096

// journal is the system log. The watcher of the network writes to it, too.
type journal struct {
	mu      sync.Mutex
	booted  time.Time
	console bool // messages are shown on the console
	total   int
	kept    []string
	size    int
}

// begin empties the log at a boot.
func (j *journal) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.booted, j.console, j.total, j.kept, j.size = time.Now(), true, 0, nil, 0
}

// clock is the device's idea of now: without a battery, it begins at the same moment after each boot.
func (j *journal) clock() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now()
}

func (j *journal) now() time.Time {
	return time.Date(2002, time.March, 1, 0, 0, 0, 0, time.UTC).Add(time.Since(j.booted))
}

func (j *journal) uptime() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return time.Since(j.booted)
}

// add records a message and shows it.
func (j *journal) add(t *terminal.Terminal, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := "*" + j.now().Format("Jan _2 15:04:05.000") + ": " + text
	j.total++
	j.kept, j.size = append(j.kept, line), j.size+len(line)+1
	for j.size > journalSize {
		j.size -= len(j.kept[0]) + 1
		j.kept = j.kept[1:]
	}
	if j.console {
		t.Notify(line)
	}
}

func (j *journal) setConsole(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.console = on
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept, j.size = nil, 0
}

// text is "show logging".
func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	console := "disabled"
	if j.console {
		console = fmt.Sprintf("level debugging, %d messages logged, xml disabled,\n                     filtering disabled", j.total)
	}
	text := fmt.Sprintf(`Syslog logging: enabled (0 messages dropped, 0 messages rate-limited,
                0 flushes, 0 overruns, xml disabled, filtering disabled)
    Console logging: %s
    Monitor logging: level debugging, 0 messages logged, xml disabled,
                     filtering disabled
    Buffer logging: level debugging, %d messages logged, xml disabled,
                    filtering disabled
    Logging Exception size (4096 bytes)
    Count and timestamp logging messages: disabled
    Trap logging: level informational, %d message lines logged

Log Buffer (%d bytes):
`, console, j.total, j.total, journalSize)
	for _, line := range j.kept {
		text += "\n" + line
	}
	return strings.TrimRight(text, "\n") + "\n"
}

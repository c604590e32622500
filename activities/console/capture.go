package console

import "fmt"

// capture keeps a command's output up to a bound: all of it, or its first and last part with the gap stated.
type capture struct {
	half  int    // the bound of each part
	head  []byte // the first bytes
	tail  []byte // the last bytes, a ring once it is full
	next  int    // where the ring's next byte goes
	total int
}

// add appends one line.
func (c *capture) add(line []byte) {
	c.append(line)
	c.append([]byte{'\n'})
}

func (c *capture) append(b []byte) {
	c.total += len(b)
	n := min(len(b), c.half-len(c.head))
	c.head = append(c.head, b[:n]...)
	b = b[n:]
	if over := len(b) - c.half; over > 0 {
		b = b[over:]
	}
	n = min(len(b), c.half-len(c.tail))
	c.tail = append(c.tail, b[:n]...)
	for b = b[n:]; len(b) > 0; b = b[n:] {
		n = copy(c.tail[c.next:], b)
		c.next = (c.next + n) % c.half
	}
}

// text gives what was kept.
func (c *capture) text() string {
	left := c.total - len(c.head) - len(c.tail)
	if left == 0 {
		return string(c.head) + string(c.tail)
	}
	gap := fmt.Sprintf("\n… %d bytes left out …\n", left)
	return string(c.head) + gap + string(c.tail[c.next:]) + string(c.tail[:c.next])
}

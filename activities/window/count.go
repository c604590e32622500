package window

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// counter counts tokens by the vocabulary cl100k_base. Every provider has a vocabulary of its own; this one has the size of those in use,
// or half of it, and so rather counts too much than too little: the newer o200k_base finds far fewer tokens in Chinese than most models do.
// It also takes half the memory.
type counter struct {
	codec func() *codec.Codec
	seed  maphash.Seed

	mu sync.Mutex
	// What was asked for since the last change of generations is in young. When that is full it becomes old, and what nobody asks for until
	// the next change is forgotten.
	young, old map[text]int
}

// text stands for a text that was counted.
type text struct {
	hash uint64
	size int
}

// generation is how many texts one generation remembers, at some 50 bytes each.
const generation = 1 << 15

func newCounter() *counter {
	return &counter{codec: sync.OnceValue(codec.NewCl100kBase), seed: maphash.MakeSeed(), young: map[text]int{}}
}

// tokens counts a text, or remembers its count.
func (c *counter) tokens(s string) int {
	if s == "" {
		return 0
	}
	key := c.key(s)
	if n, ok := c.recall(key); ok {
		return n
	}
	n := 0
	for piece := range pieces(s) {
		k, err := c.codec().Count(piece)
		if err != nil {
			k = len(piece)
		}
		n += k
	}
	c.keep(key, n)
	return n
}

func (c *counter) key(s string) text { return text{hash: maphash.String(c.seed, s), size: len(s)} }

func (c *counter) recall(key text) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.young[key]; ok {
		return n, true
	}
	n, ok := c.old[key]
	if ok {
		c.add(key, n)
	}
	return n, ok
}

func (c *counter) keep(key text, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, n)
}

func (c *counter) add(key text, n int) {
	if len(c.young) >= generation {
		c.old, c.young = c.young, make(map[text]int, generation)
	}
	c.young[key] = n
}

// maxPiece bounds what the tokenizer gets at once, in bytes: it takes quadratic time for some texts, such as lines that hold one blank
// each (64 KiB of those: 1.8 s). No bound of ours shows in other texts: a line's end is the end of a token too.
const maxPiece = 1 << 10

// pieces cuts a text behind the ends of lines, or between characters where a line is longer than a piece.
func pieces(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > maxPiece {
			end := strings.LastIndexByte(s[:maxPiece], '\n') + 1
			if end == 0 {
				end = maxPiece
				for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(s[end]); back++ {
					end--
				}
			}
			if !yield(s[:end]) {
				return
			}
			s = s[end:]
		}
		yield(s)
	}
}

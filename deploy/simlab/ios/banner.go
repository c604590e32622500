package ios

import (
	"context"
	"strings"
)

// banner is a text that is still being typed.
type banner struct {
	kind, end, text string
}

// caretC is how a configuration writes the character that ends a banner.
const caretC = "^C"

// setBanner is "banner KIND": the first character of the text ends it, on this line or a later one.
func setBanner(_ context.Context, s *shell, a args) error {
	text := a["text"]
	end := text[:1]
	if strings.HasPrefix(text, caretC) {
		end = caretC
	}
	s.banner = &banner{kind: s.said[1], end: end}
	s.bannerLine(strings.TrimPrefix(text, end))
	if s.banner != nil {
		s.print("Enter TEXT message.  End with the character '%s'.\n", end)
	}
	return nil
}

// bannerLine takes a line of text; what follows the end is lost. A text may begin on the line after its first delimiter.
func (s *shell) bannerLine(line string) {
	b := s.banner
	before, _, ended := strings.Cut(line, b.end)
	b.text += before
	if !ended {
		if b.text != "" {
			b.text += "\n"
		}
		return
	}
	s.r.banners[b.kind] = strings.TrimSuffix(b.text, "\n")
	s.banner = nil
}

func noBanner(_ context.Context, s *shell, _ args) error {
	delete(s.r.banners, s.said[1])
	return nil
}

// bannerText writes the banners for the configuration.
func (r *Router) bannerText() string {
	var b strings.Builder
	for _, kind := range []string{"exec", "login", "motd"} {
		if text, ok := r.banners[kind]; ok {
			b.WriteString("banner " + kind + " " + caretC + "\n" + text + "\n" + caretC + "\n")
		}
	}
	return b.String()
}

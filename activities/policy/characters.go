package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookAlikes are pairs: a letter that Unicode's own compatibility forms don't lead to ASCII, and the ASCII letter it looks like.
const lookAlikes = "аaеeоoрpсcуyхxіiјjѕsԁdԛqԝwһhӏlոnտsցgհhօoսuАaВbЕeКkМmНhОoРpСcТtУyХxІiЈjЅsԌgгrтtпnиuкkмmвb" +
	"αaοoρpνvτtυuιiκkεeγyηnωwχxΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧxςcϳj" +
	"ıiȷjɑaɡgɩiʟlʀrɪiʏyɴnʜhɢgʙbᴀaᴄcᴅdᴇeᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡwᴢzꜰfꜱsłlđdøoǀlǃ!ꓲlꓳoꓢsꓣrꓰeꓮaꓓdꓔtꓡl∕/⁄/∣|‐-‑-–-—-−-"

// unseen are letters and symbols that show nothing although Unicode doesn't count them as formatting.
const unseen = "\u115f\u1160\u3164\uffa0\u2800"

// fold gives the text as a person reads it: look-alikes as the ASCII letters they look like, invisible characters gone, every blank a
// plain one, letters small. Tabs stay.
func fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r == '\t' || r > ' ' && r < 0x7f:
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case invisible(r) || unicode.In(r, unicode.Mn, unicode.Me):
		default:
			b.WriteRune(asciiLike(r))
		}
	}
	return b.String()
}

func asciiLike(r rune) rune {
	odd := rune(-1)
	for _, c := range lookAlikes {
		if odd < 0 {
			odd = c
			continue
		}
		if odd == r {
			return c
		}
		odd = -1
	}
	return unicode.ToLower(r)
}

func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == '\u034f' || strings.ContainsRune(unseen, r)
}

// describe names a character that isn't plain ASCII and says what is odd about it.
func describe(r rune) string {
	seen := fold(string(r))
	switch {
	case invisible(r):
		return fmt.Sprintf("U+%04X, which is invisible", r)
	case seen == " ":
		return fmt.Sprintf("U+%04X, which looks like a blank", r)
	case seen != "" && seen[0] < utf8.RuneSelf:
		return fmt.Sprintf("U+%04X, which looks like %q", r, seen)
	}
	return fmt.Sprintf("U+%04X, which is not plain ASCII", r)
}

// unsendable finds what can't be typed on a console as what it is meant to be, and says why.
func (p *platform) unsendable(line string) string {
	for i, r := range line {
		_, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return "holds bytes that are not UTF-8 text, so nobody can tell what the device would read"
		case r == '\t':
		case unicode.IsControl(r):
			return fmt.Sprintf("holds the control character U+%04X, which is a key to the device and not text", r)
		case r == '?' && !p.QuestionMark:
			return "holds a question mark, which asks the device for help and leaves the line unfinished"
		}
	}
	return ""
}

// deceptive finds what makes a line look like another one to a person, or read like another one to the device. text is where the
// line's free text begins; a foreign letter is harmless there.
func (p *platform) deceptive(line string, text int) string {
	for i, r := range line {
		if r >= utf8.RuneSelf && (i < text || invisible(r)) {
			return "holds the character " + describe(r) + ": the device may read something else than you do"
		}
		if r >= utf8.RuneSelf && p.SevenBit && entersSevenBit(r) {
			return fmt.Sprintf("holds the character U+%04X, which acts as Enter on a console that reads seven bits of each byte: "+
				"what follows it would be a command", r)
		}
	}
	return ""
}

// entersSevenBit tells whether a character's bytes without their eighth bits have a CR, LF or Ctrl-Z among them.
func entersSevenBit(r rune) bool {
	for _, b := range []byte(string(r)) {
		if b &= 0x7f; b == '\r' || b == '\n' || b == 0x1a {
			return true
		}
	}
	return false
}

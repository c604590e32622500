package apiserver

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"gns3copilot/schema"
)

// words are the notices' texts, in Markdown.
type words struct {
	language string // as Accept-Language has it
	page     string // the address of the page where people decide
}

// Bounds of what a notice shows: calls, reasons of each, lines of all together, and bytes of each line. The page has them all.
const (
	noticeCalls   = 20
	noticeReasons = 10
	noticeLines   = 40
	noticeLine    = 200
)

func (w words) say(english, chinese string, args ...any) string {
	if inChinese(w.language) {
		return fmt.Sprintf(chinese, args...)
	}
	return fmt.Sprintf(english, args...)
}

// link leads to the calls on the page. None of its parts has a character that Markdown or a URL would take for something else.
func (w words) link(project, session, hitlSession string) string {
	return w.page + "#/" + project + "/" + session + "/" + hitlSession
}

// waiting says what waits, that nothing has happened, and where to decide until when.
func (w words) waiting(calls []schema.PendingTool, link string, left time.Duration, until time.Time) string {
	parts := []string{w.say("**Approval needed. Nothing has been sent or changed yet.**", "**需要审批。尚未发送任何内容，也未做任何更改。**")}
	room := noticeLines
	for _, c := range calls[:min(len(calls), noticeCalls)] {
		parts = append(parts, w.call(c), w.lines(c.Preview, &room))
	}
	if more := len(calls) - noticeCalls; more > 0 {
		parts = append(parts, w.say("… and %d more calls, which the page shows", "…… 还有 %d 个调用，请在页面中查看", more))
	}
	at := until.UTC().Format("15:04:05") + " UTC"
	parts = append(parts, w.say("[**Confirm, reject or modify**](%s) within %s, by %s. After that it expires, and nothing happens.",
		"请在 %[2]s 内（%[3]s 之前）[**确认、拒绝或修改**](%[1]s)。逾期将失效，不会执行任何操作。", link, w.duration(left), at))
	return strings.Join(parts, "\n\n")
}

// call is one call that waits: what it does, with which tool, how dangerous that is and why.
func (w words) call(c schema.PendingTool) string {
	danger := map[schema.Danger]string{schema.DangerLow: w.say("low", "低"), schema.DangerMedium: w.say("medium", "中"), schema.DangerHigh: w.say("high", "高")}[c.DangerLevel]
	text := w.say("**%s** with %s. Danger: %s.", "**%s**（%s）。危险级别：%s。", escape(c.Description), code(c.ToolName), danger)
	if c.ConfirmationsRequired > 1 {
		text += w.say(" It needs %d confirmations.", "需要确认 %d 次。", c.ConfirmationsRequired)
	}
	points := slices.Clone(c.Reasons)
	if c.Preview != nil {
		for _, d := range c.Preview.Devices {
			if d.Problem != "" {
				points = append(points, d.Name+": "+d.Problem)
			}
		}
	}
	for _, point := range points[:min(len(points), noticeReasons)] {
		text += "\n- " + escape(schema.CutText(point, noticeLine))
	}
	if more := len(points) - noticeReasons; more > 0 {
		text += w.say("\n- … and %d more, which the page shows", "\n- …… 还有 %d 条，请在页面中查看", more)
	}
	return text
}

// lines is a block of what would be sent, device by device, as far as there is room.
func (w words) lines(p *schema.Preview, room *int) string {
	if p == nil { // a very large change comes without
		return w.say("The page shows the lines.", "具体内容请在页面中查看。")
	}
	var b strings.Builder
	left := 0
	for _, d := range p.Devices {
		if *room > 0 {
			fmt.Fprintf(&b, "%s:\n", plain(d.Name))
		}
		for _, line := range d.Lines {
			if *room <= 0 {
				left++
				continue
			}
			*room--
			fmt.Fprintf(&b, "  %s\n", schema.CutText(plain(line), noticeLine))
		}
	}
	if b.Len() == 0 {
		return w.say("… %d lines, which the page shows", "…… 共 %d 行，请在页面中查看", left)
	}
	fence := "```"
	for strings.Contains(b.String(), fence) {
		fence += "`"
	}
	block := fence + "text\n" + b.String() + fence
	if left > 0 {
		block += "\n\n" + w.say("… and %d more lines, which the page shows", "…… 还有 %d 行，请在页面中查看", left)
	}
	return block
}

// ended says what became of a call.
func (w words) ended(what string, outcome schema.ApprovalState, by, reason string) string {
	what, by = cmp.Or(escape(what), w.say("The call", "该调用")), escape(by)
	text := ""
	switch outcome {
	case schema.ApprovalConfirmed:
		text = w.say("**Confirmed** by %s: %s.", "**已由 %s 确认**：%s。", by, what)
	case schema.ApprovalRejected:
		text = w.say("**Rejected** by %s: %s. Nothing was sent or changed.", "**已被 %s 拒绝**：%s。未发送任何内容，也未做任何更改。", by, what)
	case schema.ApprovalModified:
		text = w.say("**Modified** by %s: %s. Nothing was sent or changed; the assistant is told what to do in its place.",
			"**已被 %s 修改**：%s。未发送任何内容，也未做任何更改；修改已反馈给助手。", by, what)
	case schema.ApprovalExpired:
		text = w.say("**Expired**: %s. Nobody decided in time; nothing was sent or changed.", "**已过期**：%s。无人及时决定，未发送任何内容，也未做任何更改。", what)
	case schema.ApprovalAborted:
		text = w.say("**Aborted**: %s. Nothing was sent or changed.", "**已中止**：%s。未发送任何内容，也未做任何更改。", what)
	}
	if reason != "" {
		text += w.say(" Reason: %s", "原因：%s", escape(reason))
	}
	return text
}

// duration is a time in words, rounded down.
func (w words) duration(d time.Duration) string {
	d = max(d, 0)
	n, one, many, chinese := int(d/time.Hour), "%d hour", "%d hours", "%d 小时"
	switch {
	case d < 2*time.Minute:
		n, one, many, chinese = int(d/time.Second), "%d second", "%d seconds", "%d 秒"
	case d < 2*time.Hour:
		n, one, many, chinese = int(d/time.Minute), "%d minute", "%d minutes", "%d 分钟"
	}
	if n == 1 {
		many = one
	}
	return w.say(many, chinese, n)
}

// plain is text on one line, without what steers a screen or turns the direction of text.
func plain(s string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s), " ")
}

// escaper takes the meaning from what Markdown, or the HTML in it, would act on; addresses and mail addresses become links by themselves.
var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "{", `\{`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`, "~", `\~`, "&", `\&`, "!", `\!`, "@", `\@`,
	"://", `\://`, "$", `\$`,
)

// www begins an address, in any letters.
var www = regexp.MustCompile(`(?i)(www)\.`)

// escape makes text of people, models and devices safe to stand in Markdown.
func escape(s string) string {
	return www.ReplaceAllString(escaper.Replace(strings.TrimSpace(plain(s))), `$1\.`)
}

// code is text as a code span.
func code(s string) string { return "`" + strings.ReplaceAll(plain(s), "`", "'") + "`" }

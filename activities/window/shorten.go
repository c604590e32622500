package window

import (
	"encoding/json"
	"slices"

	"gns3copilot/activities/llm"
	"gns3copilot/schema"
)

// leastText is how far the texts of a result's items are cut, in bytes, before the texts and then the items are left out.
const leastText = 128

// shorten cuts a tool's result to so many bytes, in the form that it has. reader says that the model can read the rest.
func shorten(m llm.Message, size int, reader bool) string {
	var r schema.ToolResponse
	if json.Unmarshal([]byte(m.Content), &r) != nil || r.Data == nil {
		return shortenText(m, size, reader)
	}
	all, bare := len(r.Data), false
	write := func(text int) string {
		cut, missing := r.Cut(text)
		if left := all - len(cut.Data); left > 0 { // the counts stay those of the whole result
			cut = cut.WithExtra("items_left_out", left)
		}
		if reader && (missing || bare) {
			cut = cut.WithExtra("whole", schema.HowToRead(m.ToolCallID))
		}
		return string(schema.Text(cut))
	}
	for text := size; text >= leastText; text = text * 3 / 4 {
		if texts(r, text) > size {
			continue
		}
		if s := write(text); len(s) <= size {
			return s
		}
	}
	r.Data, bare = slices.Clone(r.Data), true
	for i := range r.Data {
		r.Data[i].Result = ""
	}
	s := write(leastText)
	for len(s) > size && len(r.Data) > 0 {
		r.Data = r.Data[:len(r.Data)/2]
		s = write(leastText)
	}
	return s
}

// texts is how many bytes the items' texts have when each is cut to so many.
func texts(r schema.ToolResponse, each int) int {
	sum := 0
	for _, item := range r.Data {
		sum += min(len(item.Result), each) + min(len(item.Error), each)
	}
	return sum
}

func shortenText(m llm.Message, size int, reader bool) string {
	hint := ""
	if reader {
		hint = "\n[" + schema.HowToRead(m.ToolCallID) + "]"
	}
	return schema.CutText(m.Content, max(leastText, size-len(hint))) + hint
}

package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gns3copilot/schema"
	"gns3copilot/schema/store"
)

// Bounds of what a configuration can have beside the known fields.
const (
	maxExtraFields = 50
	maxExtraBytes  = 16 << 10
	maxExtraName   = 100
	maxExtraDepth  = 32 // some of those who read configurations can't read much more
)

// The extra fields that mean something here: which configurations a turn goes on with, the model that makes titles, and what tokens cost.
// Workers read them, so what they can't use is refused when it is saved.
const (
	failoverField    = "failover"
	titleModelField  = "title_model"
	inputPriceField  = "input_price"
	outputPriceField = "output_price"
)

// maxTitleModel bounds, in bytes, the name of that model.
const maxTitleModel = 200

// checkExtra leaves out what is null, and gives the fields that mean something the one spelling that they are kept in. Those that an empty
// text is to remove are null behind it. A field named config isn't kept as others are: it would be what an answer has in it, sent back, with a
// key that nobody would seal.
func (e *modelEdit) checkExtra() {
	for name, value := range maps.Clone(e.fields.Extra) {
		if value == nil {
			delete(e.fields.Extra, name)
			continue
		}
		switch {
		case len(name) > maxExtraName:
			e.fault("the name of a field is over 100 bytes long")
		case strings.EqualFold(name, "config"):
			e.fault("config: what answers have in it stands beside the other fields in a request")
		case deeper(value, maxExtraDepth):
			e.fault("a field holds values that lie deeper in one another than 32")
		}
		for _, known := range []string{failoverField, titleModelField, inputPriceField, outputPriceField} {
			if strings.EqualFold(name, known) {
				delete(e.fields.Extra, name)
				e.fields.Extra[known] = value
			}
		}
	}
	e.checkTitleModel()
	e.checkPrice(inputPriceField)
	e.checkPrice(outputPriceField)
}

// deeper tells whether values lie deeper in one another than so many levels.
func deeper(value any, levels int) bool {
	var inside []any
	switch v := value.(type) {
	case []any:
		inside = v
	case map[string]any:
		inside = slices.Collect(maps.Values(v))
	default:
		return false
	}
	return levels == 0 || slices.ContainsFunc(inside, func(item any) bool { return deeper(item, levels-1) })
}

func (e *modelEdit) checkTitleModel() {
	value, is := e.fields.Extra[titleModelField]
	if !is {
		return
	}
	name, ok := value.(string)
	switch {
	case ok && name == "":
		e.fields.Extra[titleModelField] = nil
	case !ok || !visible(name) || strings.ContainsFunc(name, breaksLine) || len(name) > maxTitleModel:
		e.fault(fmt.Sprintf("%s: must be one line of at most %d bytes with something to read in it", titleModelField, maxTitleModel))
	}
}

// checkPrice makes a number of a price, which GNS3's web page sends as text.
func (e *modelEdit) checkPrice(field string) {
	value, is := e.fields.Extra[field]
	if !is {
		return
	}
	text := ""
	switch v := value.(type) {
	case string:
		if text = strings.TrimSpace(v); text == "" {
			e.fields.Extra[field] = nil
			return
		}
	case json.Number:
		text = v.String()
	}
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || !(usd >= 0 && usd <= schema.MostPrice) { // which is false for what is no number, too
		e.fault(fmt.Sprintf("%s: must be a number from 0 to %d, in US dollars per million tokens", field, schema.MostPrice))
		return
	}
	e.fields.Extra[field] = usd
}

// applyExtra puts the extra fields beside those that the configuration has.
func (e *modelEdit) applyExtra(c *store.ModelConfig) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.Extra), &all); err != nil {
		return err
	}
	for name, value := range e.fields.Extra {
		if value == nil {
			delete(all, name)
			continue
		}
		all[name] = schema.Text(value)
	}
	if (all[inputPriceField] == nil) != (all[outputPriceField] == nil) {
		return schema.Errorf(schema.CodeInvalid, "1 validation error: %s and %s are needed together", inputPriceField, outputPriceField)
	}
	c.Extra = string(schema.Text(all))
	if len(all) > maxExtraFields || len(c.Extra) > maxExtraBytes {
		return schema.Errorf(schema.CodeInvalid, "1 validation error: there are too many other fields, or too much is in them").
			WithHint("At most 50 are kept, with 16 KiB together.")
	}
	return nil
}

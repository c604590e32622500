package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
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
// text is to remove are null behind it.
func (e *modelEdit) checkExtra() {
	for name, value := range maps.Clone(e.fields.Extra) {
		if value == nil {
			delete(e.fields.Extra, name)
			continue
		}
		if len(name) > maxExtraName {
			e.fault("the name of a field is over 100 bytes long")
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

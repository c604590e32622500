package stack

import (
	"os"

	"gns3copilot/activities/price"
	"gns3copilot/schema"
)

// loadPrices reads what models cost; the built-in prices without a file. It fails with CodeInvalid.
func loadPrices(file string) (*price.Table, error) {
	if file == "" {
		return price.Default(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, schema.Errorf(schema.CodeInvalid, "The price file %s can't be read.", file).WithCause(err)
	}
	return price.Load(text)
}

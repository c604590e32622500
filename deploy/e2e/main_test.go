//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gns3copilot/deploy/scriptmodel"
)

// modelKey is the API key that the scripted model wants to see.
const modelKey = "sk-scripted-0001"

// site is what the tests share: the lab, the product in front of it, the model and the browser.
var site struct {
	model   *scriptmodel.Server
	product *product
	lab     *lab
	browser *browser
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run starts everything, in the order in which the parts need each other, and ends it again, also when something is missing.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gns3-copilot-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	site.model = scriptmodel.Start()
	defer site.model.Close()
	site.model.Demand(scriptmodel.Strict{Key: modelKey})
	code, err := serve(m, dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "e2e: %v\n(README.md in this folder tells what is needed)\n", err)
		return 1
	}
	return code
}

func serve(m *testing.M, dir string) (code int, err error) {
	ctx := context.Background()
	if site.product, err = startProduct(ctx, dir); err != nil {
		return 1, err
	}
	defer func() {
		if stopped := site.product.stop(); stopped != nil {
			code, err = 1, errors.Join(err, stopped)
		}
	}()
	if site.lab, err = findLab(ctx, site.product.url); err != nil {
		return 1, err
	}
	if site.browser, err = startBrowser(ctx, filepath.Join(dir, "profile")); err != nil {
		return 1, err
	}
	defer site.browser.end()
	return m.Run(), nil
}

package vault

import (
	"bytes"
	"testing"

	"gns3copilot/schema"
)

func TestAModelKeyIsOpenedForItsConfigurationAlone(t *testing.T) {
	v, err := Open(t.Context(), openJetStream(t), Key{1})
	if err != nil {
		t.Fatal(err)
	}
	const key = "sk-secret-of-ada"
	sealed, err := v.SealModelKey("first", key)
	if err != nil || bytes.Contains(sealed, []byte(key[3:])) {
		t.Fatalf("%q %v", sealed, err)
	}
	if again, err := v.SealModelKey("first", key); err != nil || bytes.Equal(sealed, again) {
		t.Errorf("the same key is sealed the same way twice: %v", err)
	}
	if got, err := v.OpenModelKey("first", sealed); err != nil || got != key {
		t.Errorf("%q %v", got, err)
	}
	if got, err := v.OpenModelKey("first", nil); err != nil || got != "" {
		t.Errorf("no key: %q %v", got, err)
	}
	other, err := Open(t.Context(), openJetStream(t), Key{2})
	if err != nil {
		t.Fatal(err)
	}
	token, err := seal(v.aead, "first", []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		vault  *Vault
		id     string
		sealed []byte
	}{
		"another configuration's": {v, "second", sealed},
		"another secret key":      {other, "first", sealed},
		"cut":                     {v, "first", sealed[:5]},
		"changed":                 {v, "first", append(bytes.Clone(sealed[:len(sealed)-1]), sealed[len(sealed)-1]^1)},
		"sealed for a turn":       {v, "first", token},
	} {
		if got, err := c.vault.OpenModelKey(c.id, c.sealed); schema.CodeOf(err) != schema.CodeModelAuth || got != "" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

package vault

import (
	"gns3copilot/schema"
)

// SealModelKey seals the API key of the model configuration with this id; under another id it can't be opened.
func (v *Vault) SealModelKey(id, key string) ([]byte, error) { return seal(v.models, id, []byte(key)) }

// OpenModelKey opens what SealModelKey has sealed for the id; nothing sealed is no key. It fails with CodeModelAuth when it can't be opened,
// as after a change of the installation's secret key.
func (v *Vault) OpenModelKey(id string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	key, err := unseal(v.models, id, sealed)
	if err != nil {
		return "", schema.Errorf(schema.CodeModelAuth, "The API key of the model configuration can't be read any more.").
			WithHint("Enter the key again: the server's secret key is another one than when it was saved.").WithCause(err)
	}
	return string(key), nil
}

package temporaldev

import (
	"context"
	"errors"
	"fmt"
	"os"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"gns3copilot/schema"
)

// prepareDatabase leaves a mark while the server creates its database, and removes a database that bears one. The server
// creates its tables one by one and takes an existing file for a complete one, so that one killed in that half second would
// never start again on the folder. Nothing is lost: nobody was told of a server that hadn't finished.
func prepareDatabase(o Options) error {
	_, err := os.Stat(o.path(creatingFile))
	unfinished := err == nil
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if unfinished {
		o.Logger.Warn("removing a Temporal database that was never completed", "file", o.path(databaseFile))
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := remove(o.path(databaseFile + suffix)); err != nil {
				return fmt.Errorf("remove an unfinished database: %w", err)
			}
		}
	}
	if _, err := os.Stat(o.path(databaseFile)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(o.path(creatingFile), nil, 0o600)
}

// attributeTypes reads the names of the search attributes' types.
func attributeTypes(o Options) (map[string]enumspb.IndexedValueType, error) {
	types := make(map[string]enumspb.IndexedValueType, len(o.SearchAttributes))
	for name, text := range o.SearchAttributes {
		kind, err := enumspb.IndexedValueTypeFromString(text)
		if err != nil {
			return nil, schema.Errorf(schema.CodeInvalid, "The search attribute %s has an unknown type, %q.", name, text).WithCause(err)
		}
		types[name] = kind
	}
	return types, nil
}

// register adds the search attributes that the namespace lacks: the server's own flag does so only for a namespace that it
// creates, not for one that an earlier release of ours has left in the database.
func register(ctx context.Context, c client.Client, o Options) error {
	missing, err := attributeTypes(o)
	if err != nil || len(missing) == 0 {
		return err
	}
	known, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: o.Namespace})
	if err != nil {
		return fmt.Errorf("list search attributes: %w", err)
	}
	for name, has := range known.GetCustomAttributes() {
		if wanted, found := missing[name]; found && has != wanted {
			return schema.Errorf(schema.CodeConflict, "The search attribute %s is of type %s in %s, not %s.", name, has, o.DataDir, wanted)
		}
		delete(missing, name)
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx,
		&operatorservice.AddSearchAttributesRequest{Namespace: o.Namespace, SearchAttributes: missing})
	if err != nil {
		return fmt.Errorf("add search attributes: %w", err)
	}
	return nil
}

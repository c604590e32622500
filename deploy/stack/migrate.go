package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"gns3copilot/schema"
	"gns3copilot/schema/store"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"
)

// MigrateDatabase brings a database up to date. It fails with CodeUnavailable.
func MigrateDatabase(ctx context.Context, url string) error {
	s, err := store.Open(store.Options{URL: url})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return errors.Join(s.Migrate(ctx), s.Close())
}

// RegisterSearchAttributes makes a Temporal namespace know what turns are searched by. It fails with CodeUnavailable.
func RegisterSearchAttributes(ctx context.Context, address, namespace string, log *slog.Logger) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: tlog.NewStructuredLogger(log)})
	if err != nil {
		return schema.Errorf(schema.CodeUnavailable, "Temporal can't be reached at %s.", address).WithCause(err)
	}
	defer c.Close()
	for _, name := range schema.SearchAttributes() {
		_, err := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
			Namespace:        namespace,
			SearchAttributes: map[string]enumspb.IndexedValueType{name: enumspb.INDEXED_VALUE_TYPE_KEYWORD},
		})
		var exists *serviceerror.AlreadyExists
		if err != nil && !errors.As(err, &exists) {
			return schema.Errorf(schema.CodeUnavailable, "The search attribute %s can't be registered.", name).WithCause(err)
		}
	}
	return nil
}

package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gns3copilot/schema"

	"github.com/labstack/echo/v4"
	"go.temporal.io/api/operatorservice/v1"
)

// healthz says that the process lives.
func (s *Server) healthz(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// readyz says whether a chat would work, and if not, what is missing.
func (s *Server) readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 3*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		return s.fail(c, err)
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready"})
}

// Ready checks everything that a turn needs: the database, the event stream, Temporal and its search attributes. It fails with
// CodeUnavailable.
func (s *Server) Ready(ctx context.Context) error {
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	if err := s.bus.Ping(ctx); err != nil {
		return err
	}
	return s.checkSearchAttributes(ctx)
}

func (s *Server) checkSearchAttributes(ctx context.Context) error {
	known, err := s.temporal.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: s.namespace})
	if err != nil {
		return schema.Errorf(schema.CodeUnavailable, "Temporal doesn't answer.").WithCause(err)
	}
	missing := slices.DeleteFunc(schema.SearchAttributes(), func(name string) bool {
		_, has := known.GetCustomAttributes()[name]
		return has
	})
	if len(missing) > 0 {
		return schema.Errorf(schema.CodeUnavailable, "Temporal doesn't know the search attributes %s.", strings.Join(missing, ", ")).
			WithHint("Run: gns3-copilot migrate").WithCause(fmt.Errorf("namespace %s", s.namespace))
	}
	return nil
}

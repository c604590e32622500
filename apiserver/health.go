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
	enumspb "go.temporal.io/api/enums/v1"
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
	for _, check := range []func(context.Context) error{s.Ready, s.checkWorkers, s.CheckGNS3} {
		if err := check(ctx); err != nil {
			return s.fail(c, err)
		}
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready"})
}

// Ready checks what this process itself needs: the database, the event stream, the credential store, Temporal and its search attributes.
// It fails with CodeUnavailable.
func (s *Server) Ready(ctx context.Context) error {
	for _, check := range []func(context.Context) error{s.store.Ping, s.bus.Ping, s.vault.Check, s.checkSearchAttributes} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// CheckGNS3 asks the GNS3 server whether it is there. It fails with CodeGNS3Unavailable.
func (s *Server) CheckGNS3(ctx context.Context) error {
	_, err := s.gns3.Version(ctx)
	return err
}

// checkWorkers looks whether anybody works for each task queue. It fails with CodeUnavailable.
func (s *Server) checkWorkers(ctx context.Context) error {
	for queue, kind := range map[string]enumspb.TaskQueueType{
		schema.TaskQueue: enumspb.TASK_QUEUE_TYPE_WORKFLOW, schema.TaskQueueDevices: enumspb.TASK_QUEUE_TYPE_ACTIVITY,
	} {
		d, err := s.temporal.DescribeTaskQueue(ctx, queue, kind)
		if err != nil {
			return schema.Errorf(schema.CodeUnavailable, "Temporal doesn't answer.").WithCause(err)
		}
		if len(d.GetPollers()) == 0 {
			return schema.Errorf(schema.CodeUnavailable, "No worker serves the task queue %s.", queue).
				WithHint("Start one with: gns3-copilot worker")
		}
	}
	return nil
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

// Package apiserver is the HTTP side: chat, sessions and their streams, and a gateway for everything that is the GNS3 server's. It
// starts workflows by name, relays what they publish, and holds no state that a restart could lose.
package apiserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"gns3copilot/schema"
	"gns3copilot/schema/cache"
	"gns3copilot/schema/observe"
	"gns3copilot/schema/progress"
	"gns3copilot/schema/store"
	"gns3copilot/schema/vault"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
)

// GNS3 is what the API asks the GNS3 server: whose a token is, and what its owner may see.
type GNS3 interface {
	Me(ctx context.Context, token string) (schema.User, error)
	Project(ctx context.Context, token, id string) (schema.Project, error)
	Version(ctx context.Context) (string, error)
	MayUseConsole(ctx context.Context, token, projectID, nodeID string) error
}

// Options is what the API works with; its fields are all needed, but for PublicURL and Metrics.
type Options struct {
	Temporal  client.Client
	Namespace string
	Store     *store.Store
	Bus       *progress.Bus
	Vault     *vault.Vault
	GNS3      GNS3
	Directory Directory
	Arguments Arguments
	// GNS3URL is where paths that aren't ours are passed on to; GNS3TLS says which certificates are good there.
	GNS3URL string
	GNS3TLS *tls.Config
	// ProviderURL gives the base URL of a model provider whom everybody reaches at the same one, empty for others.
	ProviderURL func(provider string) string
	// PublicURL is where people reach this server; when it is empty links lead to where their reader has come by.
	PublicURL string
	Limits    Limits
	Version   string
	Log       *slog.Logger
	Tracer    trace.Tracer
	// Propagator finds the client's span in a request.
	Propagator propagation.TextMapPropagator
	Metrics    *observe.Metrics
}

// Limits are what a turn starts with, and the times of its streams.
type Limits struct {
	Mode schema.Mode
	// Steps is the budget of a turn, InjectionSteps that of one in fault injection mode.
	Steps, InjectionSteps int
	StopBelow             int
	CredentialWait        time.Duration
	ApprovalWait          time.Duration
	// ModelHosts says to where model configurations may lead.
	ModelHosts schema.ModelHosts
	// Turn bounds what a turn may use, and its user on a day.
	Turn schema.TurnLimits
	// UserMinuteRequests and UserMinuteTurns bound a user's requests to our operations, and the turns that begin, in a minute; none when zero.
	UserMinuteRequests, UserMinuteTurns int
	// Origins are those of web pages elsewhere that may use our operations, in lower case; "*" is any.
	Origins []string
	// Heartbeat is how often a silent stream shows that it lives, 15 s when zero.
	Heartbeat time.Duration
	// LoginCheck is how often the login of a stream's reader is looked at, and which projects an approver may see; 30 s when zero.
	LoginCheck time.Duration
	// WriteWait is how long a client may stop reading before its connection is given up, 90 s when zero; it can resume.
	WriteWait time.Duration
}

// Server is the HTTP API.
type Server struct {
	temporal    client.Client
	namespace   string
	store       *store.Store
	bus         *progress.Bus
	vault       *vault.Vault
	gns3        GNS3
	directory   Directory
	arguments   Arguments
	identities  *identities
	maySee      *cache.Cache[bool] // a project
	limits      Limits
	providerURL func(provider string) string
	// requests and turns bound what one user may do in a minute.
	requests, turns *rates
	log             *slog.Logger
	tracer          trace.Tracer
	propagator      propagation.TextMapPropagator
	metrics         *observe.Metrics
	publicURL       string
	echo            *echo.Echo
	http            *http.Server
	gateway         *gateway
	deletions       *deletions
	background      sync.WaitGroup
	// streams ends open streams when the server shuts down: clients come back to the next one.
	streams    context.Context
	endStreams context.CancelFunc
}

var installErrors sync.Once

// New makes the API. It fails when GNS3URL can't be read.
func New(o Options) (*Server, error) {
	s := &Server{
		temporal: o.Temporal, namespace: o.Namespace, store: o.Store, bus: o.Bus, vault: o.Vault, gns3: o.GNS3, directory: o.Directory,
		arguments: o.Arguments, identities: newIdentities(o.GNS3, o.Store, o.Log),
		limits: o.Limits, requests: newRates(o.Limits.UserMinuteRequests), turns: newRates(o.Limits.UserMinuteTurns),
		providerURL: o.ProviderURL, log: o.Log, tracer: o.Tracer, propagator: o.Propagator, metrics: o.Metrics, echo: echo.New(),
		publicURL: strings.TrimRight(o.PublicURL, "/"),
	}
	var err error
	if s.gateway, err = newGateway(s, o.GNS3URL, o.GNS3TLS); err != nil {
		return nil, err
	}
	s.deletions = newDeletions(s)
	s.limits.Heartbeat = cmp.Or(s.limits.Heartbeat, heartbeatEvery)
	s.limits.LoginCheck = cmp.Or(s.limits.LoginCheck, identityLife)
	s.maySee = cache.New[bool](s.limits.LoginCheck, time.Now)
	s.limits.WriteWait = cmp.Or(s.limits.WriteWait, writeWait)
	s.streams, s.endStreams = context.WithCancel(context.Background())
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.httpError
	s.echo.Use(s.observe, middleware.Recover(), guard)
	if len(o.Limits.Origins) > 0 {
		s.echo.Use(s.crossOrigin(o.Limits.Origins))
	}
	// huma asks a package variable how errors look. All servers of a process agree on it.
	installErrors.Do(func() {
		huma.NewErrorWithContext = requestError
		huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
			return requestError(nil, status, message, errs...)
		}
	})
	s.routes(o.Version)
	if err := s.pageRoutes(); err != nil {
		return nil, err
	}
	s.echo.Any(gatewayRoute, s.gateway.pass)
	// Streams have no end that could be told beforehand, so writes have deadlines of their own.
	s.http = &http.Server{Handler: s.echo, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)}
	return s, nil
}

// Serve answers requests until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	s.background.Go(func() { s.deletions.run(s.streams) })
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// Shutdown ends the streams and WebSockets, lets other requests come to their end until ctx is over, and closes what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.endStreams()
	defer s.background.Wait()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return s.gateway.close(ctx)
}

func (s *Server) httpError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var he *echo.HTTPError
	if errors.As(err, &he) { // the router's own: no such method, and the like
		err = c.JSON(he.Code, schema.ErrorBody{Message: fmt.Sprint(he.Message), Code: codeOf(he.Code), RequestID: requestID(c)})
	} else {
		err = s.fail(c, err)
	}
	if err != nil {
		s.log.Debug("error not delivered", "error", err)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package notify tells the service manager of a process that the process is ready, healthy, or stopping.
package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// checksPerInterval is how often the health is checked in the time after which the service manager takes the process for hung.
const checksPerInterval = 4

// Service is the service that this process is the main process of. Outside of a service, its methods do nothing.
type Service struct {
	send     func(state string) error
	interval time.Duration
	clock    clock.WithTicker
	log      logr.Logger
}

// Options are the options of a Service.
type Options struct {
	// Send sends a message to the service manager.
	Send func(state string) error
	// Interval is the time without a sign of life after which the service manager ends the process; 0 if it does not watch it.
	Interval time.Duration
	// Clock measures the time between checks.
	Clock clock.WithTicker
	// Log receives the failures of checks.
	Log logr.Logger
}

// New returns a service with the given options.
func New(o Options) *Service {
	return &Service{send: o.Send, interval: o.Interval, clock: o.Clock, log: o.Log}
}

// FromEnvironment returns the service that systemd describes in the environment of this process, and takes the description out of the
// environment: the library of the API server would say by itself that the process is ready, before the garden is.
func FromEnvironment(c clock.WithTicker, log logr.Logger) (*Service, error) {
	interval, err := daemon.SdWatchdogEnabled(true)
	if err != nil {
		return nil, fmt.Errorf("read WATCHDOG_USEC: %w", err)
	}
	socket := os.Getenv(socketVariable)
	if err := os.Unsetenv(socketVariable); err != nil {
		return nil, fmt.Errorf("unset %s: %w", socketVariable, err)
	}
	return New(Options{Send: func(state string) error { return send(socket, state) }, Interval: interval, Clock: c, Log: log}), nil
}

// socketVariable is the environment variable with the socket of the service manager.
const socketVariable = "NOTIFY_SOCKET"

// send sends a message to a socket. Without one, the process is not a service.
func send(socket, state string) error {
	if socket == "" {
		return nil
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	_, err = connection.Write([]byte(state))
	return errors.Join(err, connection.Close())
}

// Ready says that the process does its work. The status is shown by "systemctl status".
func (s *Service) Ready(status string) { s.tell(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Stopping says that the process has begun to stop.
func (s *Service) Stopping() { s.tell(daemon.SdNotifyStopping + "\nSTATUS=Stopping") }

// Watch checks the health of the process until ctx ends, and gives a sign of life after each check that succeeds. A process whose checks
// fail or hang is ended and started again by the service manager.
func (s *Service) Watch(ctx context.Context, check func(ctx context.Context) error) {
	if s.interval <= 0 {
		return
	}
	period := s.interval / checksPerInterval
	ticker := s.clock.NewTicker(period)
	defer ticker.Stop()
	for {
		s.checkOnce(ctx, period, check)
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) checkOnce(ctx context.Context, patience time.Duration, check func(ctx context.Context) error) {
	checkCtx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := check(checkCtx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Error(err, "Health check failed; the service manager restarts this process if it goes on", "limit", s.interval)
	default:
		s.tell(daemon.SdNotifyWatchdog)
	}
}

// tell sends a message. A message that is lost has its effect in the service manager, so a failure is only logged.
func (s *Service) tell(state string) {
	if err := s.send(state); err != nil {
		s.log.Error(err, "Service manager could not be notified")
	}
}

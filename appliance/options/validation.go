// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/appliance/memory"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

const (
	// MinTokenLifetime is the minimum lifetime of a join token.
	MinTokenLifetime = 10 * time.Minute
	// MaxTokenLifetime is the maximum lifetime of a join token.
	MaxTokenLifetime = jointoken.MaxLifetime
	// DefaultTokenLifetime is the lifetime of a join token if neither the command nor the garden sets one.
	DefaultTokenLifetime = time.Hour

	maxEventTTL = 7 * 24 * time.Hour
	// leastTimelineBytes is enough for the timelines of a small garden over some weeks.
	leastTimelineBytes = 16 << 20
)

// Validate returns an error for each invalid value. The errors name the flag, or the file and the path in it.
func (c CompletedServer) Validate() (flags, file []error) {
	if e := c.config.Datastore.Endpoint; c.isFlag[flagDatastoreEndpoint] && ValidateEndpoint(e) == nil && kine.HasPassword(e) {
		flags = append(flags, fmt.Errorf("--%s: %w", flagDatastoreEndpoint, errPasswordInFlag))
	}
	for _, e := range checkServer(c.config) {
		origin := c.layers.Origin(e.path)
		if e.flag != "" && (c.isFlag[e.flag] || origin == "") {
			flags = append(flags, fmt.Errorf("--%s: %w", e.flag, e.err))
			continue
		}
		if origin == "" && !c.layers.Empty() {
			// A limit that depends on several values can be exceeded by a default.
			origin = c.layers.Names[0]
		}
		file = append(file, fmt.Errorf("%s: %s: %w", origin, e.path, e.err))
	}
	return flags, file
}

// ValidateServer returns an error for each invalid value of c, with its path.
func ValidateServer(c *gardenconfigv1alpha1.ServerConfiguration) []error {
	wrong := checkServer(c)
	errs := make([]error, 0, len(wrong))
	for _, e := range wrong {
		errs = append(errs, fmt.Errorf("%s: %w", e.path, e.err))
	}
	return errs
}

// wrongValue is an invalid value, with its path in the file and its flag, if it has one.
type wrongValue struct {
	flag, path string
	err        error
}

// checkServer checks the values alone. Whether a directory is writable and a port is free is found out when they are used.
func checkServer(c *gardenconfigv1alpha1.ServerConfiguration) []wrongValue {
	var wrong []wrongValue
	check := func(flag, path string, err error) {
		if err != nil {
			wrong = append(wrong, wrongValue{flag: flag, path: path, err: err})
		}
	}
	check(flagDataDir, "dataDir", validateDataDir(c.DataDir))
	check(flagListen, "listen", validateListen(c.Listen))
	for i, address := range c.ExternalAddresses {
		check(flagExternalAddress, fmt.Sprintf("externalAddresses[%d]", i), validateAddress(address))
	}
	checkDatastore(&c.Datastore, check)
	check("", "memory.limit", validateMemory(c.Memory.Limit))
	check(flagLogLevel, "logLevel", oneOf(telemetry.Level(c.LogLevel), telemetry.Levels()))
	check(flagLogFormat, "logFormat", oneOf(telemetry.Format(c.LogFormat), telemetry.Formats()))
	check("", "eventTTL", within(c.EventTTL, time.Minute, maxEventTTL))
	check("", "timeline.keep", within(c.Timeline.Keep, time.Hour, 10*365*24*time.Hour))
	check("", "timeline.maxSize", validateTimelineSize(c.Timeline.MaxSize))
	checkSnapshots(&c.Snapshots, check)
	check("", "audit.maxAge", within(c.Audit.MaxAge, time.Hour, 10*365*24*time.Hour))
	check("", "audit.maxSize", validateTimelineSize(c.Audit.MaxSize))
	check("", "tokens.defaultLifetime", within(c.Tokens.DefaultLifetime, MinTokenLifetime, MaxTokenLifetime))
	check("", "tokens.maxServiceAccountTokenLifetime", within(c.Tokens.MaxServiceAccountTokenLifetime, time.Hour, 10*365*24*time.Hour))
	check("", "projects.maxPerUser", notNegative(c.Projects.MaxPerUser))
	check("", "certificates.clientLifetime", within(c.Certificates.ClientLifetime, time.Hour, 10*365*24*time.Hour))
	check("", "shoots.credentialsRotationInterval", within(c.Shoots.CredentialsRotationInterval, 24*time.Hour, 100*365*24*time.Hour))
	check("", "shoots.maxKubeconfigLifetime", within(c.Shoots.MaxKubeconfigLifetime, 10*time.Minute, 10*365*24*time.Hour))
	checkControllers(&c.Controllers, check)
	if event := c.Controllers.Event; event != nil && c.EventTTL != nil {
		// The API server deletes all events after eventTTL, so a longer time would have no effect.
		check("", "controllers.event.ttlNonShootEvents", within(event.TTLNonShootEvents, time.Second, c.EventTTL.Duration))
	}
	checkWorkloadIdentity(&c.WorkloadIdentity, check)
	checkOIDC(c.OIDC, check)
	check("", "scheduler.concurrentSyncs", positive(c.Scheduler.ConcurrentSyncs))
	check("", "scheduler.candidateDeterminationStrategy", oneOf(c.Scheduler.CandidateDeterminationStrategy,
		[]gardenconfigv1alpha1.CandidateDeterminationStrategy{
			gardenconfigv1alpha1.CandidateDeterminationStrategySameRegion,
			gardenconfigv1alpha1.CandidateDeterminationStrategyMinimalDistance,
		}))
	checkAdmission(&c.Admission, check)
	return wrong
}

func validateMemory(limit *resource.Quantity) error {
	if limit != nil && limit.Cmp(*resource.NewQuantity(memory.Least, resource.BinarySI)) < 0 {
		return fmt.Errorf("%s is below %dMi, the minimum for a garden", limit, memory.Least>>20)
	}
	return nil
}

func validateTimelineSize(size *resource.Quantity) error {
	if size != nil && size.Cmp(*resource.NewQuantity(leastTimelineBytes, resource.BinarySI)) < 0 {
		return fmt.Errorf("%s is less than %dMi", size, leastTimelineBytes>>20)
	}
	return nil
}

func validateDataDir(dir string) error {
	switch {
	case dir == "":
		return errors.New("required")
	case strings.ContainsAny(dir, "?#%"):
		return fmt.Errorf("%q contains ?, # or %%, which the database does not support in a path", dir)
	default:
		return nil
	}
}

// validateListen accepts host:port. An empty host stands for all addresses, and port 0 for any free port.
func validateListen(listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is not of the form address:port, such as :6443 or 192.0.2.1:6443", listen)
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		return fmt.Errorf("%q: port %q is not a number from 0 to 65535", listen, port)
	}
	if host == "" || host == "localhost" {
		return nil
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return fmt.Errorf("%q: %q is not an IP address", listen, host)
	}
	return nil
}

func validateAddress(address string) error {
	if _, err := netip.ParseAddr(address); err == nil {
		return nil
	}
	if len(validation.IsDNS1123Subdomain(strings.ToLower(address))) == 0 {
		return nil
	}
	return fmt.Errorf("%q is neither an IP address nor a host name; it must not contain a port or https://", address)
}

// ValidateTokenLifetime returns an error for a lifetime that is too short to use a join token, or too long.
func ValidateTokenLifetime(d time.Duration) error {
	return within(&metav1.Duration{Duration: d}, MinTokenLifetime, MaxTokenLifetime)
}

func oneOf[T ~string](value T, known []T) error {
	if slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("%q is not %s", value, words(known))
}

func within(d *metav1.Duration, low, high time.Duration) error {
	if d == nil || (d.Duration >= low && d.Duration <= high) {
		return nil
	}
	return fmt.Errorf("%s is not between %s and %s", d.Duration, short(low), short(high))
}

// short formats a duration without the parts that are zero.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func notNegative(n *int) error {
	if n == nil || *n >= 0 {
		return nil
	}
	return fmt.Errorf("%d is less than 0", *n)
}

func positive(n *int) error {
	if n == nil || *n > 0 {
		return nil
	}
	return fmt.Errorf("%d is less than 1", *n)
}

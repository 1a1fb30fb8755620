// SPDX-License-Identifier: Apache-2.0

package year_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	bootstraptoken "k8s.io/cluster-bootstrap/token/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/tests/harness"
	"github.com/terrarium-garden/terrarium/tests/wallclock"
)

const day = 24 * time.Hour

// The days on which something happens in the year.
const (
	sleepFrom  = 170
	startCA    = 332 // What was issued on the first day has been renewed.
	completeCA = 346
	sleepUntil = sleepFrom + 183
	lastDay    = 366
)

// wall is the wall clock of this process. It is taken over before anything else runs.
var wall *wallclock.Clock

func TestMain(m *testing.M) {
	var err error
	if wall, err = wallclock.Take(); err != nil && !errors.Is(err, wallclock.ErrElsewhere) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// year is a garden whose days pass at once.
type year struct {
	t      *testing.T
	garden *harness.Garden
	clock  *harness.Clock
	today  int
	// seen are the certificates that the server had, by their names.
	seen map[string]*x509.Certificate
	// renewals are the shares of their lives at which certificates were renewed, by their names.
	renewals map[string][]float64
}

// TestYear runs a garden for a year, whose clocks are set forward day by day: those of the server's own parts, and the wall clock of the
// process with which TLS, the authenticator of client certificates and the signer compare. Three gardenlets keep their credentials as the
// gardenlet does. One of them is off for half of the year, in which the authorities are changed and its certificate ends
// [GLET-ROT-1, GLET-ROT-2, GLET-BOOT-4, OPER-ROT-3, OPER-ROT-5].
//
//nolint:paralleltest // There is one wall clock.
func TestYear(t *testing.T) {
	if wall == nil {
		t.Skip(wallclock.ErrElsewhere)
	}
	began := time.Now()
	y := begin(t)
	kept := y.keepConnection()
	yearly := y.join("yearly", 0)
	monthly := y.join("monthly", 30*day)
	sleeper := y.join("sleeper", 90*day)
	var expired, back int
	for y.today < lastDay {
		y.pass()
		switch y.today {
		case sleepFrom:
			sleeper.turnOff()
		case startCA:
			y.startAuthorities(sleeper, yearly, monthly)
		case completeCA:
			y.completeAuthorities()
		case sleepUntil:
			back = y.wake(sleeper)
		}
		if expired == 0 && sleeper.off() && sleeper.expiry().Before(time.Now()) {
			expired = y.today
		}
		kept.use()
		y.look()
		for _, g := range []*gardenlet{yearly, monthly, sleeper} {
			g.live()
		}
	}
	took := time.Since(began) // That of the monotonic clock.
	y.judge(yearly, monthly, sleeper, kept)
	t.Logf("%d days in %s", lastDay, took.Round(time.Second))
	for _, name := range slices.Sorted(keys(y.renewals)) {
		t.Logf("%s of the server: renewed at %s of its life", name, shares(y.renewals[name]))
	}
	for _, g := range []*gardenlet{yearly, monthly, sleeper} {
		t.Logf("gardenlet %s: renewed %d times by its time, at %s of the life, and %d times because the garden asked; %d heartbeats, none failed",
			g.seed, len(g.renewals), shares(g.renewals), g.asked, g.beats)
	}
	t.Logf("authorities: changed from day %d to day %d; gardenlet sleeper: off from day %d to %d, its certificate had ended on day %d, back within %d ms with a new token",
		startCA, completeCA, sleepFrom, sleepUntil, expired, back)
	t.Logf("a connection of the first day: %d requests, dialled %d time", kept.requests, kept.dials)
}

func begin(t *testing.T) *year {
	t.Helper()
	clock := harness.NewClock(t)
	garden := harness.Start(t, harness.WithClock(clock), harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Snapshots.Interval, c.Snapshots.IncrementInterval = &metav1.Duration{Duration: 30 * day}, &metav1.Duration{}
	}))
	y := &year{t: t, garden: garden, clock: clock, seen: map[string]*x509.Certificate{}, renewals: map[string][]float64{}}
	if err := y.admin().Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: gardencorev1beta1.NamespaceGarden, Name: "local", Labels: map[string]string{
			"name.seed.gardener.cloud/yearly": "true", "name.seed.gardener.cloud/monthly": "true", "name.seed.gardener.cloud/sleeper": "true",
		},
	}}); err != nil {
		t.Fatal(err)
	}

	return y
}

// pass lets a day pass.
func (y *year) pass() {
	y.today++
	wall.Step(day)
	y.clock.Step(day)
}

// admin uses the kubeconfig that the server keeps, on a new connection.
func (y *year) admin() client.Client {
	y.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", y.garden.Kubeconfig)
	if err != nil {
		y.t.Fatal(err)
	}
	config.QPS, config.Dial = -1, new(net.Dialer).DialContext
	c, err := client.New(config, client.Options{Scheme: y.garden.Scheme})
	if err != nil {
		y.t.Fatal(err)
	}

	return c
}

// ca is the bundle of the day.
func (y *year) ca() []byte {
	y.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", y.garden.Kubeconfig)
	if err != nil {
		y.t.Fatal(err)
	}

	return config.CAData
}

// ask sends a request about certificates and returns the answer.
func (y *year) ask(ctx context.Context, body string) (string, error) {
	y.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", y.garden.Kubeconfig)
	if err != nil {
		y.t.Fatal(err)
	}
	config.Dial = new(net.Dialer).DialContext
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		y.t.Fatal(err)
	}
	request := c.RESTClient().Get()
	if body != "" {
		request = c.RESTClient().Post().SetHeader("Content-Type", "application/json").Body([]byte(body))
	}
	answer, err := request.AbsPath("/appliance/certificates").DoRaw(ctx)

	return string(answer), err
}

// look waits until the server has no certificate that should have been renewed, notes which are new, and connects to it anew.
func (y *year) look() {
	y.t.Helper()
	harness.Eventually(y.t, fmt.Sprintf("the server's certificates are renewed on day %d", y.today), func(context.Context) error {
		for _, name := range []string{"serving", "admin", "front-proxy-client"} {
			leaf, err := y.leaf(name)
			if err != nil {
				return err
			}
			// A day more than the longest time, because the clock goes by days.
			if s := share(leaf, time.Now().Add(-day)); s > 0.9 {
				return fmt.Errorf("%s: %.0f %% of its life have passed", name, 100*s)
			}
			y.note(name, leaf)
		}

		return nil
	})
	harness.Eventually(y.t, fmt.Sprintf("the administrator can work on day %d", y.today), func(ctx context.Context) error {
		return y.admin().Get(ctx, client.ObjectKey{Name: gardencorev1beta1.NamespaceGarden}, &corev1.Namespace{})
	})
}

// note keeps when a certificate was renewed. Those that were replaced with their authority were not due.
func (y *year) note(name string, leaf *x509.Certificate) {
	before := y.seen[name]
	y.seen[name] = leaf
	if before != nil && !before.Equal(leaf) && bytes.Equal(before.AuthorityKeyId, leaf.AuthorityKeyId) {
		y.renewals[name] = append(y.renewals[name], share(before, leaf.NotBefore.Add(time.Hour)))
	}
}

// leaf reads a certificate of the server.
func (y *year) leaf(name string) (*x509.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(y.garden.DataDir+"/pki/"+name+".pem", y.garden.DataDir+"/pki/"+name+".pem")
	if err != nil {
		return nil, err
	}

	return pair.Leaf, nil
}

// token makes a join token for a seed, and returns what is put into the seed.
func (y *year) token(seed string) identity.JoinToken {
	y.t.Helper()
	token := identity.NewJoinToken(identity.HashCA(y.ca()))
	err := y.admin().Create(y.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + token.ID},
		Type:       bootstraptoken.SecretTypeBootstrapToken,
		StringData: map[string]string{
			bootstraptoken.BootstrapTokenIDKey:               token.ID,
			bootstraptoken.BootstrapTokenSecretKey:           token.Secret,
			bootstraptoken.BootstrapTokenUsageAuthentication: "true",
			bootstraptoken.BootstrapTokenExpirationKey:       time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
			"seed": seed,
		},
	})
	if err != nil {
		y.t.Fatal(err)
	}

	return token
}

// startAuthorities begins to change the authorities through the Garden, and waits until all gardenlets that run have taken them up.
func (y *year) startAuthorities(off *gardenlet, on ...*gardenlet) {
	y.t.Helper()
	garden := `{"metadata":{"annotations":{"gardener.cloud/operation":"rotate-ca-start"}}}`
	if err := y.patchGarden(garden); err != nil {
		y.t.Fatalf("start to change the authorities: %v", err)
	}
	// A request that comes while a certificate is being renewed by its time can be lost; the garden asks again after a minute.
	for limit := time.Now().Add(3 * harness.Patience); ; {
		for _, g := range on {
			g.live()
		}
		answer, err := y.ask(y.t.Context(), "")
		if err != nil {
			y.t.Fatal(err)
		}
		if strings.Contains(strings.Join(strings.Fields(answer), ""), `"waiting":["`+off.seed+`"]`) {
			return
		}
		if time.Now().After(limit) {
			y.t.Fatalf("the gardenlets that run have not taken up the authorities: %s", answer)
		}
	}
}

// completeAuthorities completes the change. A gardenlet is off, so it is refused, and then forced.
func (y *year) completeAuthorities() {
	y.t.Helper()
	if _, err := y.ask(y.t.Context(), `{"rotate":"authorities","phase":"complete"}`); err == nil {
		y.t.Error("The gardenlet that is off would be shut out, and the completion must not be accepted without force.")
	}
	former := y.ca()
	if _, err := y.ask(y.t.Context(), `{"rotate":"authorities","phase":"complete","force":true}`); err != nil {
		y.t.Fatalf("complete the change of the authorities: %v", err)
	}
	harness.Eventually(y.t, "the former authorities are forgotten", func(ctx context.Context) error {
		if answer, err := y.ask(ctx, ""); err != nil || strings.Contains(answer, `"authorities"`) {
			return fmt.Errorf("the server says: %s (%w)", answer, err)
		}
		if bytes.Equal(former, y.ca()) {
			return errors.New("the kubeconfig has the former authority")
		}

		return nil
	})
}

// wake turns a gardenlet on whose certificate has ended while it was off. It says that it needs a new token, and comes back with one. The
// result is how many milliseconds that took.
func (y *year) wake(g *gardenlet) int {
	y.t.Helper()
	// Its bootstrap credentials were deleted when it had joined.
	if err := g.open(); err == nil || !strings.Contains(err.Error(), "the client certificate expired on") || !strings.Contains(err.Error(), "join the seed with a token") {
		y.t.Fatalf("a gardenlet whose certificate has ended: got %v", err)
	}
	since := time.Now()
	g.invite(y.token(g.seed))
	if err := g.open(); err != nil {
		y.t.Fatalf("join again with a new token: %v", err)
	}
	g.maintain()
	g.beat()

	return int(time.Since(since) / time.Millisecond)
}

func (y *year) patchGarden(patch string) error {
	return y.admin().Patch(y.t.Context(), theGarden(), client.RawPatch("application/merge-patch+json", []byte(patch)))
}

// judge checks what has happened within the year.
func (y *year) judge(yearly, monthly, sleeper *gardenlet, kept *connection) {
	y.t.Helper()
	renewed := map[string]int{}
	for _, name := range []string{"serving", "admin", "front-proxy-client"} {
		renewed[name] = len(y.renewals[name])
		y.within(name, y.renewals[name])
	}
	if diff := cmp.Diff(map[string]int{"serving": 1, "admin": 1, "front-proxy-client": 1}, renewed); diff != "" {
		y.t.Errorf("how often certificates of the server were renewed in a year (-want +got):\n%s", diff)
	}
	for _, g := range []*gardenlet{yearly, monthly, sleeper} {
		y.within(g.seed, g.renewals)
	}
	if n := len(monthly.renewals); n < 11 || n > 17 {
		y.t.Errorf("A certificate of 30 days was renewed %d times in a year", n)
	}
	if len(yearly.renewals) != 1 || len(sleeper.renewals) < 1 {
		y.t.Errorf("gardenlet yearly renewed %d times, sleeper %d times", len(yearly.renewals), len(sleeper.renewals))
	}
	// The one that was off finds that it was asked when it is back. One that renews its certificate on that very day need not be asked.
	if yearly.asked < 1 || sleeper.asked < 1 {
		y.t.Errorf("The garden asked yearly %d times, monthly %d times, sleeper %d times; want those that had a certificate for longer once at least", yearly.asked, monthly.asked, sleeper.asked)
	}
	if kept.dials != 1 || kept.requests < lastDay {
		y.t.Errorf("A connection was dialled %d times for %d requests; nothing closes it", kept.dials, kept.requests)
	}
}

// within checks that certificates were renewed in the window. The clock goes by days.
func (y *year) within(name string, all []float64) {
	y.t.Helper()
	for _, s := range all {
		if s < 0.7 || s > 0.9+1.0/27 {
			y.t.Errorf("%s was renewed at %.1f %% of its life, want 70 to 90 %%", name, 100*s)
		}
	}
}

// connection is one over which a request goes each day.
type connection struct {
	t               *testing.T
	client          http.Client
	url             string
	dials, requests int
}

// keepConnection opens a connection that trusts the authority of the first day.
func (y *year) keepConnection() *connection {
	y.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(y.ca())
	c := &connection{t: y.t, url: y.garden.Server + "/livez"}
	transport := &http.Transport{DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c.dials++

		return (&tls.Dialer{Config: &tls.Config{RootCAs: roots}}).DialContext(ctx, network, address)
	}}
	c.client.Transport = transport
	y.t.Cleanup(transport.CloseIdleConnections)

	return c
}

func (c *connection) use() {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.url, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := c.client.Do(request)
	if err != nil {
		c.t.Fatalf("a connection of the first day: %v", err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
		c.t.Fatalf("a connection of the first day: status %d, %v", answer.StatusCode, err)
	}
	c.requests++
}

// share is the share of the life of a certificate that has passed.
func share(leaf *x509.Certificate, now time.Time) float64 {
	return float64(now.Sub(leaf.NotBefore)) / float64(leaf.NotAfter.Sub(leaf.NotBefore))
}

// shares describes the least and the largest of some shares.
func shares(all []float64) string {
	if len(all) == 0 {
		return "-"
	}
	least, most := math.Round(100*slices.Min(all)), math.Round(100*slices.Max(all))
	if least == most {
		return fmt.Sprintf("%.0f %%", least)
	}

	return fmt.Sprintf("%.0f to %.0f %%", least, most)
}

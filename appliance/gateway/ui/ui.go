// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"crypto/x509"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/gateway/oidc"
	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

const (
	// Path is the path of the web UI.
	Path = "/ui/"
	// LinksPath is the path at which the administrator requests the code of a one-time link.
	LinksPath = "/ui/links"
	// SignInPath is the page that takes the code, after "#code=".
	SignInPath = "/ui/sign-in"
	// StatusPath is the path of the API at which the server says how it is.
	StatusPath = "/appliance/status"

	sessionPath = "/ui/session"
	kubePath    = "/ui/kube"
	// projectsPath is not /ui/projects, which is a page.
	projectsPath = "/ui/session/projects"
	waysPath     = "/ui/session/ways"
	beginPath    = "/ui/session/oidc"
	callbackPath = "/ui/session/oidc/callback"
	infoPath     = "/ui/info"
	statusPath   = "/ui/status"

	// maxSignIn limits the size of sign-in requests, maxObject that of requests to the API, which has a lower limit of its own.
	maxSignIn = 32 << 10
	maxObject = 8 << 20
	// maxRequests and maxOther limit the parallel requests to the API, which users share, and those that cost several.
	maxOther    = 32
	maxRequests = 4096
)

// Info describes the garden to those who are signed in.
type Info struct {
	Version          string `json:"version"`
	Server           string `json:"server"`
	Local            string `json:"local"`
	CAFingerprint    string `json:"caFingerprint"`
	ClusterIdentity  string `json:"clusterIdentity,omitempty"`
	GardenerAPILevel string `json:"gardenerApiLevel"`
}

// Config is the configuration of the web UI.
type Config struct {
	// Files serves the files of the UI.
	Files http.Handler
	// AdminCertificate issues a certificate of the administrator that only this process can use.
	AdminCertificate func(now time.Time, lifetime time.Duration) (*x509.Certificate, error)
	// Verb returns what the API takes a request for, such as list or watch.
	Verb func(*http.Request) string
	// AdminGroup is the group of users who may request a one-time link.
	AdminGroup string
	// Info returns the description of the garden.
	Info func() Info
	// Issuer signs people in who have accounts elsewhere; nil for none. IssuerName is what the sign-in page calls it.
	Issuer     *oidc.Client
	IssuerName string
	// Clock is the clock of sessions.
	Clock clock.PassiveClock
	// Log records who signs in.
	Log logr.Logger
}

// site is the web UI with its state.
type site struct {
	Config

	sessions *session.Store
	attempts *attempts
	seal     seal
}

// Mounts returns the mounts of the web UI.
func Mounts(c Config) gateway.Mounts {
	s := &site{Config: c, sessions: session.New(c.Clock, maxRequests, c.AdminGroup), attempts: newAttempts(c.Clock), seal: newSeal()}
	read := gateway.Limits{Methods: []string{http.MethodGet, http.MethodHead}}
	files := read
	files.Within = gateway.ReadTime
	over := func(path string, limits gateway.Limits, serve func(api http.Handler, w http.ResponseWriter, r *http.Request)) gateway.Mount {
		return gateway.Mount{Path: path, Who: gateway.Everybody, Limits: limits, Over: func(api http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(api, w, r) })
		}}
	}

	return gateway.Mounts{
		{Path: "/", Who: gateway.Everybody, Pages: true, Limits: read, Handler: http.HandlerFunc(toStart)},
		{Path: "/ui", Who: gateway.Everybody, Limits: read, Handler: http.HandlerFunc(toStart)},
		{Path: "/namespace/", Who: gateway.Everybody, Limits: read, Handler: http.HandlerFunc(toShoot)},
		{Path: "/seeds", Who: gateway.Everybody, Limits: read, Handler: http.HandlerFunc(toSeed)},
		{Path: "/seeds/", Who: gateway.Everybody, Limits: read, Handler: http.HandlerFunc(toSeed)},
		{Path: Path, Who: gateway.Everybody, Limits: files, Handler: c.Files},
		over(sessionPath, gateway.Limits{
			Methods: []string{http.MethodGet, http.MethodPost, http.MethodDelete}, Body: maxSignIn,
		}, s.session),
		{Path: waysPath, Who: gateway.Everybody, Limits: read, Handler: http.HandlerFunc(s.ways)},
		{Path: beginPath, Who: gateway.Everybody, Limits: gateway.Limits{Parallel: maxOther}, Handler: http.HandlerFunc(s.beginOIDC)},
		over(callbackPath, gateway.Limits{Parallel: maxOther}, s.finishOIDC),
		over(LinksPath, gateway.Limits{Methods: []string{http.MethodGet, http.MethodPost}, Parallel: maxOther}, s.link),
		over(projectsPath, gateway.Limits{Parallel: maxOther}, s.projects),
		over(infoPath, gateway.Limits{}, s.info),
		over(statusPath, gateway.Limits{}, s.status),
		over(kubePath+"/", gateway.Limits{Methods: []string{
			http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		}, Body: maxObject, Parallel: maxRequests}, s.kube),
	}
}

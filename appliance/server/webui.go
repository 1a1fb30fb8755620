// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/gateway/ui"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/webui"
)

// webUI returns the mounts of the web UI. The unique name of the garden is not known before the first objects exist.
func (s *server) webUI(at addresses, keys *identity.Garden) (gateway.Mounts, error) {
	files, err := webui.Handler()
	if err != nil {
		return nil, fmt.Errorf("serve the web UI: %w", err)
	}

	signIn, err := issuer(s.Config.OIDC, s.Clock)
	if err != nil {
		return nil, err
	}

	return ui.Mounts(ui.Config{
		Issuer:           signIn,
		IssuerName:       issuerName(s.Config.OIDC),
		Files:            files,
		AdminCertificate: keys.Authorities.AdminSession,
		Verb:             apiserver.Verb,
		AdminGroup:       identity.AdminGroup,
		Info: func() ui.Info {
			return ui.Info{
				Version: s.Version, Server: at.server, Local: at.local, CAFingerprint: keys.Authorities.CAHash(), GardenerAPILevel: build.GardenerAPILevel,
				ClusterIdentity: s.gardenName(),
			}
		},
		Clock: s.Clock,
		Log:   s.Log.WithName("web-ui"),
	}), nil
}

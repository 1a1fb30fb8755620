// SPDX-License-Identifier: Apache-2.0

// Package systemd holds the units of the services, with their users. Packages and "terrarium install" use the same ones.
package systemd

import (
	_ "embed"
	"strings"
)

var (
	//go:embed terrarium-server.service
	serverUnit string
	//go:embed terrarium-gardenlet.service
	gardenletUnit string
	//go:embed hardening.conf
	hardening string
	//go:embed sysusers.conf
	users string
)

// Service describes a service.
type Service struct {
	// Unit is the name of its unit.
	Unit string
	// User is the name of its user and of the group of that user.
	User string
	// Description says whose user it is.
	Description string
	// StateDir is the directory of its data, which systemd creates.
	StateDir string

	template string
}

// Server is the service of a garden.
func Server() Service {
	return Service{
		Unit: "terrarium-server.service", User: "terrarium", Description: "Terrarium server",
		StateDir: "/var/lib/terrarium", template: serverUnit,
	}
}

// Gardenlet is the service of a gardenlet.
func Gardenlet() Service {
	return Service{
		Unit: "terrarium-gardenlet.service", User: "terrarium-gardenlet", Description: "Terrarium gardenlet",
		StateDir: "/var/lib/terrarium-gardenlet", template: gardenletUnit,
	}
}

// Render returns the unit of the service for a binary at the given path.
func (s Service) Render(binary string) []byte {
	return []byte(strings.NewReplacer("@BINARY@", binary, "@HARDENING@\n", hardening).Replace(s.template))
}

// Users returns the configuration with which systemd-sysusers creates the user of the service.
func (s Service) Users() []byte {
	return []byte(strings.NewReplacer("@USER@", s.User, "@DESCRIPTION@", s.Description, "@HOME@", s.StateDir).Replace(users))
}

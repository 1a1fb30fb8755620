// SPDX-License-Identifier: Apache-2.0

package rotation

// Signals wake up who acts on changed keys. Those that nobody has taken yet are one.
type Signals struct {
	certificates, encryption, authorities chan struct{}
	// tellGarden has the Garden brought up to date.
	tellGarden func()
}

// NewSignals makes the signals. With most of them the Garden is brought up to date, by the given function.
func NewSignals(tellGarden func()) *Signals {
	return &Signals{
		certificates: make(chan struct{}, 1), encryption: make(chan struct{}, 1), authorities: make(chan struct{}, 1), tellGarden: tellGarden,
	}
}

// TakenUp says that keys were taken up which another server, or this one before it ended, has published.
func (s *Signals) TakenUp() {
	s.wakeEncryption()
	s.wakeAuthorities()
	s.keysChanged()
}

// keysChanged has the new keys saved, and the Garden tell them.
func (s *Signals) keysChanged() {
	s.tellGarden()
	wake(s.certificates)
}

func (s *Signals) wakeEncryption() { wake(s.encryption) }

func (s *Signals) wakeAuthorities() {
	wake(s.authorities)
	s.tellGarden()
}

func wake(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package self keeps the one Garden true. The Garden describes the server that runs this controller: the controller makes it at the
// first start, shows in its spec what the server is, makes the server do what users set there, writes the health of the server into
// its conditions, and carries out the operations that its annotation asks for (OPER-API, OPER-CARE, OPER-ROT). What the server is and
// can do, it learns from functions of the server.
package self

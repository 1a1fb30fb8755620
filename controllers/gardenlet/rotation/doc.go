// SPDX-License-Identifier: Apache-2.0

// Package rotation moves the rotations of the credentials of a shoot from phase to phase. A run begins with Begin, which carries out
// the operations that the shoot's annotation asks for, and a run that has succeeded ends with Succeed. Both change the status only;
// what a phase means is up to its readers. A run that fails calls neither, so the phase stays and the next run continues.
//
// An operation is taken out of the annotation after the status was written. A crash between the two lets an operation come again:
// what has begun already is then not begun anew.
package rotation

// SPDX-License-Identifier: Apache-2.0

// The kinds of calls.
#define DISK_WRITE 0
#define DISK_CUT 1
#define DISK_SYNC 2
#define DISK_REMOVE 3

// What diskBefore returns if there is no space.
#define DISK_FULL -2

// disk_watch makes calls be told from now on.
void disk_watch(void);

// Written in Go.
extern int diskBefore(int kind, int fd, char *path, long long offset, long long length);
extern void diskAfter(int handle, int done);

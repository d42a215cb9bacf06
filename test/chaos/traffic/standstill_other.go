//go:build !linux

package traffic

import "context"

func (*standstill) listen(context.Context) (stop func()) { return func() {} }

func stopProcess() {}

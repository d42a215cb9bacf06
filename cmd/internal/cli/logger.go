package cli

import (
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger logs from a level upwards. Package config has checked both names.
func newLogger(to zapcore.WriteSyncer, level, format string) *zap.Logger {
	least, err := zapcore.ParseLevel(level)
	if err != nil {
		least = zapcore.WarnLevel
	}
	fields := zap.NewProductionEncoderConfig()
	fields.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(fields)
	if format == "json" {
		encoder = zapcore.NewJSONEncoder(fields)
	}
	core := zapcore.NewCore(encoder, to, least)
	if least >= zapcore.WarnLevel {
		return zap.New(withoutNoise{core})
	}
	return zap.New(core)
}

// withoutNoise leaves out what etcd says at every start and stop and what calls
// for no action. Whoever asks for more than warnings gets it.
type withoutNoise struct{ zapcore.Core }

func (c withoutNoise) With(fields []zapcore.Field) zapcore.Core {
	return withoutNoise{c.Core.With(fields)}
}

func (c withoutNoise) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if e.LoggerName == "etcd" && e.Level <= zapcore.ErrorLevel && slices.Contains(noise(), e.Message) {
		return checked
	}
	return c.Core.Check(e, checked)
}

// noise lists messages of etcd 3.7, in embed and auth: advice on settings that a
// member of fencelock has on purpose, and listeners that end when it stops, which
// Member.Err reports if it does so by itself.
func noise() []string {
	return []string{
		"Running http and grpc server on single port. This is not recommended for production.",
		"it isn't recommended to use default name, please set a value for --name. Note that etcd might run into issue when multiple members have the same default name",
		"simple token is not cryptographically signed",
		"setting up serving from embedded etcd failed.",
		"stopping insecure grpc server due to error",
		"stopped insecure grpc server due to error",
		"stopping secure grpc server due to error",
		"stopped secure grpc server due to error",
	}
}

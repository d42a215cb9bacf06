package filefence

// OnStep has step called before each step that others can see.
func (f *File) OnStep(step func(name string)) { f.step = step }

// Encode and Decode are the side file's text.
var (
	Encode = encode
	Decode = decode
)

# Install rules and the exported package; the build tree exports the same names.

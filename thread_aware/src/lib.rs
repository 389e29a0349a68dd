//! Values that know which core they are on and relocate between cores.

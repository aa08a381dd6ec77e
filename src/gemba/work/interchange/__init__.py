"""Work as others write it down, read and written. Pure: what is done with it is `importing` and `exporting`."""

"""The services that a simulation runs on: as strict as AWS, in this process, in virtual time."""

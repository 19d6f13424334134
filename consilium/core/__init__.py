"""What every app may build on: mechanisms of the running product that know no app."""

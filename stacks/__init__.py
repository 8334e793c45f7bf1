"""The CDK side: settings, constructs and the stacks that compose them."""

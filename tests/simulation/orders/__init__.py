"""The simulation of orders: clients, workflow, tasks, operators, and what is true of them."""

"""What waits or must survive a crash: durable flows, what they wait for, and who runs them."""

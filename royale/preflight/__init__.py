"""Before anything is paid for: is the machine able, and does every reward arrive?"""

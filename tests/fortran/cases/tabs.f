	PROGRAM TABS
	X = 1
	1  + 2
10	Y = X
	PRINT *, X,
     &	Y
	END
